package rosapimsgs

import "poise/msgs"

// TypeDef is rosapi/TypeDef.
type TypeDef struct {
	Type          string   `json:"type"`
	Fieldnames    []string `json:"fieldnames"`
	Fieldtypes    []string `json:"fieldtypes"`
	Fieldarraylen []int32  `json:"fieldarraylen"`
	Examples      []string `json:"examples"`
	Constnames    []string `json:"constnames"`
	Constvalues   []string `json:"constvalues"`
}

// TopicsRequest is rosapi/Topics's request.
type TopicsRequest struct{}

// TopicsResponse is rosapi/Topics's response.
type TopicsResponse struct {
	Topics []string `json:"topics"`
	Types  []string `json:"types"`
}

// TopicsForTypeRequest is rosapi/TopicsForType's request.
type TopicsForTypeRequest struct {
	Type string `json:"type"`
}

// TopicsForTypeResponse is rosapi/TopicsForType's response.
type TopicsForTypeResponse struct {
	Topics []string `json:"topics"`
}

// TopicsAndRawTypesRequest is rosapi/TopicsAndRawTypes's request.
type TopicsAndRawTypesRequest struct{}

// TopicsAndRawTypesResponse is rosapi/TopicsAndRawTypes's response.
type TopicsAndRawTypesResponse struct {
	Topics           []string `json:"topics"`
	Types            []string `json:"types"`
	TypedefsFullText []string `json:"typedefs_full_text"`
}

// TopicTypeRequest is rosapi/TopicType's request.
type TopicTypeRequest struct {
	Topic string `json:"topic"`
}

// TopicTypeResponse is rosapi/TopicType's response.
type TopicTypeResponse struct {
	Type string `json:"type"`
}

// ServicesRequest is rosapi/Services's request.
type ServicesRequest struct{}

// ServicesResponse is rosapi/Services's response.
type ServicesResponse struct {
	Services []string `json:"services"`
}

// ServicesForTypeRequest is rosapi/ServicesForType's request.
type ServicesForTypeRequest struct {
	Type string `json:"type"`
}

// ServicesForTypeResponse is rosapi/ServicesForType's response.
type ServicesForTypeResponse struct {
	Services []string `json:"services"`
}

// ServiceTypeRequest is rosapi/ServiceType's request.
type ServiceTypeRequest struct {
	Service string `json:"service"`
}

// ServiceTypeResponse is rosapi/ServiceType's response.
type ServiceTypeResponse struct {
	Type string `json:"type"`
}

// ServiceNodeRequest is rosapi/ServiceNode's request.
type ServiceNodeRequest struct {
	Service string `json:"service"`
}

// ServiceNodeResponse is rosapi/ServiceNode's response.
type ServiceNodeResponse struct {
	Node string `json:"node"`
}

// ServiceProvidersRequest is rosapi/ServiceProviders's request.
type ServiceProvidersRequest struct {
	Service string `json:"service"`
}

// ServiceProvidersResponse is rosapi/ServiceProviders's response.
type ServiceProvidersResponse struct {
	Providers []string `json:"providers"`
}

// ServiceHostRequest is rosapi/ServiceHost's request.
type ServiceHostRequest struct {
	Service string `json:"service"`
}

// ServiceHostResponse is rosapi/ServiceHost's response.
type ServiceHostResponse struct {
	Host string `json:"host"`
}

// ServiceRequestDetailsRequest is rosapi/ServiceRequestDetails's request.
type ServiceRequestDetailsRequest struct {
	Type string `json:"type"`
}

// ServiceRequestDetailsResponse is rosapi/ServiceRequestDetails's response.
type ServiceRequestDetailsResponse struct {
	Typedefs []TypeDef `json:"typedefs"`
}

// ServiceResponseDetailsRequest is rosapi/ServiceResponseDetails's request.
type ServiceResponseDetailsRequest struct {
	Type string `json:"type"`
}

// ServiceResponseDetailsResponse is rosapi/ServiceResponseDetails's response.
type ServiceResponseDetailsResponse struct {
	Typedefs []TypeDef `json:"typedefs"`
}

// MessageDetailsRequest is rosapi/MessageDetails's request.
type MessageDetailsRequest struct {
	Type string `json:"type"`
}

// MessageDetailsResponse is rosapi/MessageDetails's response.
type MessageDetailsResponse struct {
	Typedefs []TypeDef `json:"typedefs"`
}

// ActionGoalDetailsRequest is rosapi/ActionGoalDetails's request.
type ActionGoalDetailsRequest struct {
	Type string `json:"type"`
}

// ActionGoalDetailsResponse is rosapi/ActionGoalDetails's response.
type ActionGoalDetailsResponse struct {
	Typedefs []TypeDef `json:"typedefs"`
}

// ActionResultDetailsRequest is rosapi/ActionResultDetails's request.
type ActionResultDetailsRequest struct {
	Type string `json:"type"`
}

// ActionResultDetailsResponse is rosapi/ActionResultDetails's response.
type ActionResultDetailsResponse struct {
	Typedefs []TypeDef `json:"typedefs"`
}

// ActionFeedbackDetailsRequest is rosapi/ActionFeedbackDetails's request.
type ActionFeedbackDetailsRequest struct {
	Type string `json:"type"`
}

// ActionFeedbackDetailsResponse is rosapi/ActionFeedbackDetails's response.
type ActionFeedbackDetailsResponse struct {
	Typedefs []TypeDef `json:"typedefs"`
}

// ActionTypeRequest is rosapi/ActionType's request.
type ActionTypeRequest struct {
	Action string `json:"action"`
}

// ActionTypeResponse is rosapi/ActionType's response.
type ActionTypeResponse struct {
	Type string `json:"type"`
}

// InterfacesRequest is rosapi/Interfaces's request.
type InterfacesRequest struct{}

// InterfacesResponse is rosapi/Interfaces's response.
type InterfacesResponse struct {
	Interfaces []string `json:"interfaces"`
}

// GetActionServersRequest is rosapi/GetActionServers's request.
type GetActionServersRequest struct{}

// GetActionServersResponse is rosapi/GetActionServers's response.
type GetActionServersResponse struct {
	ActionServers []string `json:"action_servers"`
}

// NodesRequest is rosapi/Nodes's request.
type NodesRequest struct{}

// NodesResponse is rosapi/Nodes's response.
type NodesResponse struct {
	Nodes []string `json:"nodes"`
}

// NodeDetailsRequest is rosapi/NodeDetails's request.
type NodeDetailsRequest struct {
	Node string `json:"node"`
}

// NodeDetailsResponse is rosapi/NodeDetails's response.
type NodeDetailsResponse struct {
	Subscribing []string `json:"subscribing"`
	Publishing  []string `json:"publishing"`
	Services    []string `json:"services"`
}

// PublishersRequest is rosapi/Publishers's request.
type PublishersRequest struct {
	Topic string `json:"topic"`
}

// PublishersResponse is rosapi/Publishers's response.
type PublishersResponse struct {
	Publishers []string `json:"publishers"`
}

// SubscribersRequest is rosapi/Subscribers's request.
type SubscribersRequest struct {
	Topic string `json:"topic"`
}

// SubscribersResponse is rosapi/Subscribers's response.
type SubscribersResponse struct {
	Subscribers []string `json:"subscribers"`
}

// GetParamRequest is rosapi/GetParam's request.
type GetParamRequest struct {
	Name         string `json:"name"`
	Default      string `json:"default" form:"1"`
	DefaultValue string `json:"default_value" form:"2"`
}

// GetParamResponse is rosapi/GetParam's response.
type GetParamResponse struct {
	Value      string `json:"value"`
	Successful bool   `json:"successful" form:"2"`
	Reason     string `json:"reason" form:"2"`
}

// SetParamRequest is rosapi/SetParam's request.
type SetParamRequest struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SetParamResponse is rosapi/SetParam's response.
type SetParamResponse struct {
	Successful bool   `json:"successful" form:"2"`
	Reason     string `json:"reason" form:"2"`
}

// HasParamRequest is rosapi/HasParam's request.
type HasParamRequest struct {
	Name string `json:"name"`
}

// HasParamResponse is rosapi/HasParam's response.
type HasParamResponse struct {
	Exists bool `json:"exists"`
}

// DeleteParamRequest is rosapi/DeleteParam's request.
type DeleteParamRequest struct {
	Name string `json:"name"`
}

// DeleteParamResponse is rosapi/DeleteParam's response.
type DeleteParamResponse struct {
	Successful bool   `json:"successful" form:"2"`
	Reason     string `json:"reason" form:"2"`
}

// SearchParamRequest is rosapi/SearchParam's request.
type SearchParamRequest struct {
	Name string `json:"name"`
}

// SearchParamResponse is rosapi/SearchParam's response.
type SearchParamResponse struct {
	GlobalName string `json:"global_name"`
}

// GetParamNamesRequest is rosapi/GetParamNames's request.
type GetParamNamesRequest struct{}

// GetParamNamesResponse is rosapi/GetParamNames's response.
type GetParamNamesResponse struct {
	Names []string `json:"names"`
}

// GetTimeRequest is rosapi/GetTime's request.
type GetTimeRequest struct{}

// GetTimeResponse is rosapi/GetTime's response.
type GetTimeResponse struct {
	Time msgs.Time `json:"time"`
}

// GetROSVersionRequest is rosapi/GetROSVersion's request.
type GetROSVersionRequest struct{}

// GetROSVersionResponse is rosapi/GetROSVersion's response.
type GetROSVersionResponse struct {
	Version uint8  `json:"version"`
	Distro  string `json:"distro"`
}
