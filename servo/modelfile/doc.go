// Package modelfile reads servo models from text: those of robot.yaml and of files of their own,
// the 4-parameter ServoModel messages and property files (.cpf) of the Sweetie Bot project, and
// the parameters of NimbRo's robots. Every form becomes a model.Model; what is wrong is told with
// file, line, value and limit, all of it at once.
package modelfile
