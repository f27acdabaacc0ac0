package registry

import (
	"fmt"

	"poise/msgs"
)

// descriptions holds the service by which ROS 2's nodes describe their types, since Iron; ROS 1 has none of
// these types.
func descriptions(b *builder) {
	b.ros2(message[msgs.FieldType](b, "type_description_interfaces/FieldType", fieldTypes()...))
	b.ros2(message[msgs.FieldDescription](b, "type_description_interfaces/Field"))
	b.ros2(message[msgs.IndividualTypeDescription](b, "type_description_interfaces/IndividualTypeDescription"))
	b.ros2(message[msgs.TypeDescription](b, "type_description_interfaces/TypeDescription"))
	b.ros2(message[msgs.TypeSource](b, "type_description_interfaces/TypeSource"))
	b.ros2(message[msgs.DescriptionKeyValue](b, "type_description_interfaces/KeyValue"))
	b.ros2Service(service[msgs.GetTypeDescriptionRequest, msgs.GetTypeDescriptionResponse](b, "type_description_interfaces/GetTypeDescription"))
}

// fieldTypes are the constants of FieldType: all kinds, alone and in lists.
func fieldTypes() []string {
	lines := []string{"uint8 FIELD_TYPE_NOT_SET=0"}
	for _, list := range []struct {
		suffix string
		from   int
	}{{"", 0}, {"_ARRAY", kindArray}, {"_BOUNDED_SEQUENCE", kindBounded}, {"_UNBOUNDED_SEQUENCE", kindOpen}} {
		for i, name := range []string{"NESTED_TYPE", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64", "FLOAT", "DOUBLE", "LONG_DOUBLE", "CHAR", "WCHAR",
			"BOOLEAN", "BYTE", "STRING", "WSTRING", "FIXED_STRING", "FIXED_WSTRING", "BOUNDED_STRING", "BOUNDED_WSTRING"} {
			lines = append(lines, fmt.Sprintf("uint8 FIELD_TYPE_%s%s=%d", name, list.suffix, list.from+kindNested+i))
		}
	}
	return lines
}

// Description returns what the hash of a type is made of: the type and all types inside it.
func (t *Type) Description(f msgs.Form) msgs.TypeDescription {
	d := t.hashed(f)
	out := msgs.TypeDescription{TypeDescription: d.Type.message()}
	for _, p := range d.Parts {
		out.ReferencedTypeDescriptions = append(out.ReferencedTypeDescriptions, p.message())
	}
	return out
}

func (d *describedType) message() msgs.IndividualTypeDescription {
	out := msgs.IndividualTypeDescription{TypeName: d.Name}
	for _, x := range d.Fields {
		out.Fields = append(out.Fields, msgs.FieldDescription{Name: x.Name, Type: msgs.FieldType{TypeID: uint8(x.Type.ID), Capacity: uint64(x.Type.Capacity),
			StringCapacity: uint64(x.Type.Text), NestedTypeName: x.Type.Nested}})
	}
	return out
}
