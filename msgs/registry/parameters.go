package registry

import "poise/msgs"

// parameters holds the services by which ROS 2's nodes show their parameters.
func parameters(b *builder) {
	message[msgs.ParameterValue](b, "rcl_interfaces/ParameterValue")
	message[msgs.Parameter](b, "rcl_interfaces/Parameter")
	message[msgs.FloatingPointRange](b, "rcl_interfaces/FloatingPointRange")
	message[msgs.IntegerRange](b, "rcl_interfaces/IntegerRange")
	message[msgs.ParameterDescriptor](b, "rcl_interfaces/ParameterDescriptor")
	message[msgs.SetParametersResult](b, "rcl_interfaces/SetParametersResult")
	message[msgs.ListParametersResult](b, "rcl_interfaces/ListParametersResult")
	service[msgs.GetParametersRequest, msgs.GetParametersResponse](b, "rcl_interfaces/GetParameters")
	service[msgs.GetParameterTypesRequest, msgs.GetParameterTypesResponse](b, "rcl_interfaces/GetParameterTypes")
	service[msgs.DescribeParametersRequest, msgs.DescribeParametersResponse](b, "rcl_interfaces/DescribeParameters")
	service[msgs.SetParametersRequest, msgs.SetParametersResponse](b, "rcl_interfaces/SetParameters")
	service[msgs.SetParametersAtomicallyRequest, msgs.SetParametersAtomicallyResponse](b, "rcl_interfaces/SetParametersAtomically")
	service[msgs.ListParametersRequest, msgs.ListParametersResponse](b, "rcl_interfaces/ListParameters", "uint64 DEPTH_RECURSIVE=0")
}
