// Package rosapimsgs holds the messages of rosapi, the services by which clients
// of rosbridge ask which topics, services, actions, nodes and types there are.
//
// Field tags are those of msgs/registry.
package rosapimsgs
