// Package guest puts services and actions that a client serves into the graph.
//
// The client is asked by call_service and send_action_goal, and answers by
// service_response, action_feedback and action_result. When it goes away its services
// end and its goals are lost.
package guest
