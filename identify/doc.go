// Package identify finds the parameters of servos from a log of goals and positions, and says how
// far they can be trusted.
//
//	log, err := identify.Read(file, name)
//	for _, j := range log.Joints {
//		result := identify.Fit(j, nil, identify.Options{Kp: 100})
//	}
//
// The equation is that of package servo/model, at the joint:
//
//	kp·U·(g(t−d) − q) = a0·q̈ + a1·q̇ + (a2 + a4·exp(−|q̇|/vs))·sg(q̇) + a3·τ + a5
//
// A first guess comes from linear least squares on locally smoothed positions. Then the equation
// itself is run from the goals, the voltage and the torque of the log, and its parameters are
// changed until its positions are those that were measured (the output-error method: Ljung, "System
// Identification", 1999, chapter 7): measured positions are so differentiated by the model alone,
// and their noise does not enter the equation. Weights are Huber's; a0 … a3 cannot be negative.
//
// Besides, effects outside the equation are tried one at a time: a supply that saturates, clocks
// that drift, another load, a gear with play, friction that grows with load, warming. Those that
// make a log useless refuse it, the others are named. What one log cannot show stands in
// docs/identification.md.
package identify
