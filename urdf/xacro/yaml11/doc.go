// Package yaml11 reads YAML 1.1 into the values of xacro's expressions, as the
// safe loader of PyYAML does: yes is a truth, 010 is eight, 1:30 is ninety, 1e3
// is text. That is what descriptions of robots were written for.
//
// The tags of xacro are units: !degrees 90, !radians pi/2, !meters, !millimeters,
// !foot, !inches; their values are expressions and come out in SI. Other tags,
// sets and binary data are refused. A date is text.
//
// The syntax is read by go.yaml.in/yaml; anchors that contain themselves or each
// other too often are refused by depth and by budget.
package yaml11
