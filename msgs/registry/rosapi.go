package registry

import "poise/msgs/rosapimsgs"

// rosapi holds the services by which clients of rosbridge ask what there is. ROS 2
// keeps them in rosapi_msgs.
func rosapi(b *builder) {
	message[rosapimsgs.TypeDef](b, "rosapi/TypeDef")
	service[rosapimsgs.TopicsRequest, rosapimsgs.TopicsResponse](b, "rosapi/Topics")
	service[rosapimsgs.TopicsForTypeRequest, rosapimsgs.TopicsForTypeResponse](b, "rosapi/TopicsForType")
	service[rosapimsgs.TopicsAndRawTypesRequest, rosapimsgs.TopicsAndRawTypesResponse](b, "rosapi/TopicsAndRawTypes")
	service[rosapimsgs.TopicTypeRequest, rosapimsgs.TopicTypeResponse](b, "rosapi/TopicType")
	service[rosapimsgs.ServicesRequest, rosapimsgs.ServicesResponse](b, "rosapi/Services")
	service[rosapimsgs.ServicesForTypeRequest, rosapimsgs.ServicesForTypeResponse](b, "rosapi/ServicesForType")
	service[rosapimsgs.ServiceTypeRequest, rosapimsgs.ServiceTypeResponse](b, "rosapi/ServiceType")
	service[rosapimsgs.ServiceNodeRequest, rosapimsgs.ServiceNodeResponse](b, "rosapi/ServiceNode")
	service[rosapimsgs.ServiceProvidersRequest, rosapimsgs.ServiceProvidersResponse](b, "rosapi/ServiceProviders")
	service[rosapimsgs.ServiceHostRequest, rosapimsgs.ServiceHostResponse](b, "rosapi/ServiceHost")
	service[rosapimsgs.ServiceRequestDetailsRequest, rosapimsgs.ServiceRequestDetailsResponse](b, "rosapi/ServiceRequestDetails")
	service[rosapimsgs.ServiceResponseDetailsRequest, rosapimsgs.ServiceResponseDetailsResponse](b, "rosapi/ServiceResponseDetails")
	service[rosapimsgs.MessageDetailsRequest, rosapimsgs.MessageDetailsResponse](b, "rosapi/MessageDetails")
	service[rosapimsgs.ActionGoalDetailsRequest, rosapimsgs.ActionGoalDetailsResponse](b, "rosapi/ActionGoalDetails")
	service[rosapimsgs.ActionResultDetailsRequest, rosapimsgs.ActionResultDetailsResponse](b, "rosapi/ActionResultDetails")
	service[rosapimsgs.ActionFeedbackDetailsRequest, rosapimsgs.ActionFeedbackDetailsResponse](b, "rosapi/ActionFeedbackDetails")
	service[rosapimsgs.ActionTypeRequest, rosapimsgs.ActionTypeResponse](b, "rosapi/ActionType")
	service[rosapimsgs.InterfacesRequest, rosapimsgs.InterfacesResponse](b, "rosapi/Interfaces")
	service[rosapimsgs.GetActionServersRequest, rosapimsgs.GetActionServersResponse](b, "rosapi/GetActionServers")
	service[rosapimsgs.NodesRequest, rosapimsgs.NodesResponse](b, "rosapi/Nodes")
	service[rosapimsgs.NodeDetailsRequest, rosapimsgs.NodeDetailsResponse](b, "rosapi/NodeDetails")
	service[rosapimsgs.PublishersRequest, rosapimsgs.PublishersResponse](b, "rosapi/Publishers")
	service[rosapimsgs.SubscribersRequest, rosapimsgs.SubscribersResponse](b, "rosapi/Subscribers")
	service[rosapimsgs.GetParamRequest, rosapimsgs.GetParamResponse](b, "rosapi/GetParam")
	service[rosapimsgs.SetParamRequest, rosapimsgs.SetParamResponse](b, "rosapi/SetParam")
	service[rosapimsgs.HasParamRequest, rosapimsgs.HasParamResponse](b, "rosapi/HasParam")
	service[rosapimsgs.DeleteParamRequest, rosapimsgs.DeleteParamResponse](b, "rosapi/DeleteParam")
	service[rosapimsgs.SearchParamRequest, rosapimsgs.SearchParamResponse](b, "rosapi/SearchParam")
	service[rosapimsgs.GetParamNamesRequest, rosapimsgs.GetParamNamesResponse](b, "rosapi/GetParamNames")
	service[rosapimsgs.GetTimeRequest, rosapimsgs.GetTimeResponse](b, "rosapi/GetTime")
	service[rosapimsgs.GetROSVersionRequest, rosapimsgs.GetROSVersionResponse](b, "rosapi/GetROSVersion")
}
