// Package urdf reads and writes robot descriptions: URDF and SRDF documents.
//
//	text ──Parse──▶ Document ──robot.Build──▶ Model
//	     ◀──Print──
//
// A document is what the file says, checked for form and nothing more; package
// robot gives it meaning. Reading is strict: every problem is reported, all at
// once, each with file, line and the offending text. Elements and attributes
// that URDF does not know are warnings, equal ones counted; elements and
// attributes of other name spaces are passed over. URDF's own name space is
// that of the root element, and none. Macros are expanded before by package
// urdf/xacro.
//
// Who checks what:
//
//	internal/xmltree   that it is XML, of bounded size, without document type
//	                   and entities, with nothing after </robot>
//	urdf               that each element has the attributes and parts it must
//	                   have, once; that numbers are finite decimal numbers, as
//	                   many as there must be; known joint types and versions;
//	                   sizes not negative. In SRDF: names of groups, states, end
//	                   effectors and virtual joints that come twice, groups that
//	                   are not there, groups that contain themselves
//	robot              all that is about the robot: names of links and joints,
//	                   loops, roots, unknown links; masses and inertias; axes;
//	                   that revolute and prismatic joints have a limit, and that
//	                   limits are neither inverted nor negative; mimics; links
//	                   and joints that SRDF mentions
//
// Parse returns the document even beside an error, with zero or nothing in
// place of what could not be read, so that the robot's errors can be reported
// together with the file's.
//
// URDF is read as urdfdom specifies it up to version 1.2, but where urdfdom
// demands effort and velocity of a <limit>, absent is absent and a warning.
// A quaternion (quat_xyzw) becomes roll, pitch and yaw.
package urdf
