package msgs

// BatteryState is sensor_msgs/BatteryState.
type BatteryState struct {
	Header                Header    `json:"header"`
	Voltage               float32   `json:"voltage"`
	Temperature           float32   `json:"temperature"`
	Current               float32   `json:"current"`
	Charge                float32   `json:"charge"`
	Capacity              float32   `json:"capacity"`
	DesignCapacity        float32   `json:"design_capacity"`
	Percentage            float32   `json:"percentage"`
	PowerSupplyStatus     uint8     `json:"power_supply_status"`
	PowerSupplyHealth     uint8     `json:"power_supply_health"`
	PowerSupplyTechnology uint8     `json:"power_supply_technology"`
	Present               bool      `json:"present"`
	CellVoltage           []float32 `json:"cell_voltage"`
	CellTemperature       []float32 `json:"cell_temperature"`
	Location              string    `json:"location"`
	SerialNumber          string    `json:"serial_number"`
}

// Imu is sensor_msgs/Imu.
type Imu struct {
	Header                       Header     `json:"header"`
	Orientation                  Quaternion `json:"orientation"`
	OrientationCovariance        [9]float64 `json:"orientation_covariance"`
	AngularVelocity              Vector3    `json:"angular_velocity"`
	AngularVelocityCovariance    [9]float64 `json:"angular_velocity_covariance"`
	LinearAcceleration           Vector3    `json:"linear_acceleration"`
	LinearAccelerationCovariance [9]float64 `json:"linear_acceleration_covariance"`
}

// Joy is sensor_msgs/Joy.
type Joy struct {
	Header  Header    `json:"header"`
	Axes    []float32 `json:"axes"`
	Buttons []int32   `json:"buttons"`
}
