package registry

import "poise/msgs"

// parameters holds the services by which ROS 2's nodes show their parameters; ROS 1 has none of
// these types.
func parameters(b *builder) {
	b.ros2(message[msgs.ParameterValue](b, "rcl_interfaces/ParameterValue"))
	b.ros2(message[msgs.Parameter](b, "rcl_interfaces/Parameter"))
	b.ros2(message[msgs.FloatingPointRange](b, "rcl_interfaces/FloatingPointRange"))
	b.ros2(message[msgs.IntegerRange](b, "rcl_interfaces/IntegerRange"))
	b.ros2(message[msgs.ParameterDescriptor](b, "rcl_interfaces/ParameterDescriptor"))
	b.ros2(message[msgs.SetParametersResult](b, "rcl_interfaces/SetParametersResult"))
	b.ros2(message[msgs.ListParametersResult](b, "rcl_interfaces/ListParametersResult"))
	b.ros2Service(service[msgs.GetParametersRequest, msgs.GetParametersResponse](b, "rcl_interfaces/GetParameters"))
	b.ros2Service(service[msgs.GetParameterTypesRequest, msgs.GetParameterTypesResponse](b, "rcl_interfaces/GetParameterTypes"))
	b.ros2Service(service[msgs.DescribeParametersRequest, msgs.DescribeParametersResponse](b, "rcl_interfaces/DescribeParameters"))
	b.ros2Service(service[msgs.SetParametersRequest, msgs.SetParametersResponse](b, "rcl_interfaces/SetParameters"))
	b.ros2Service(service[msgs.SetParametersAtomicallyRequest, msgs.SetParametersAtomicallyResponse](b, "rcl_interfaces/SetParametersAtomically"))
	b.ros2Service(service[msgs.ListParametersRequest, msgs.ListParametersResponse](b, "rcl_interfaces/ListParameters", "uint64 DEPTH_RECURSIVE=0"))
}

// ros2 marks a type that only ROS 2 has.
func (b *builder) ros2(t *Type) { t.single, t.only = true, msgs.ROS2 }

// ros2Service marks a service that only ROS 2 has.
func (b *builder) ros2Service(s *Service) {
	b.ros2(s.Request)
	b.ros2(s.Response)
}
