package msgs

// FieldType is type_description_interfaces/FieldType: the kind of a field by its number, how many items
// a list has, how long a text may be, and the message inside.
type FieldType struct {
	TypeID         uint8  `json:"type_id"`
	Capacity       uint64 `json:"capacity"`
	StringCapacity uint64 `json:"string_capacity"`
	NestedTypeName string `json:"nested_type_name" bound:"255"`
}

// FieldDescription is type_description_interfaces/Field.
type FieldDescription struct {
	Name         string    `json:"name"`
	Type         FieldType `json:"type"`
	DefaultValue string    `json:"default_value"`
}

// IndividualTypeDescription is type_description_interfaces/IndividualTypeDescription.
type IndividualTypeDescription struct {
	TypeName string             `json:"type_name" bound:"255"`
	Fields   []FieldDescription `json:"fields"`
}

// TypeDescription is type_description_interfaces/TypeDescription: a type and all types inside it.
type TypeDescription struct {
	TypeDescription            IndividualTypeDescription   `json:"type_description"`
	ReferencedTypeDescriptions []IndividualTypeDescription `json:"referenced_type_descriptions"`
}

// TypeSource is type_description_interfaces/TypeSource: the text of a definition.
type TypeSource struct {
	TypeName        string `json:"type_name"`
	Encoding        string `json:"encoding"`
	RawFileContents string `json:"raw_file_contents"`
}

// DescriptionKeyValue is type_description_interfaces/KeyValue.
type DescriptionKeyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// GetTypeDescriptionRequest is type_description_interfaces/GetTypeDescription's request.
type GetTypeDescriptionRequest struct {
	TypeName           string `json:"type_name"`
	TypeHash           string `json:"type_hash"`
	IncludeTypeSources bool   `json:"include_type_sources"`
}

// GetTypeDescriptionResponse is type_description_interfaces/GetTypeDescription's response.
type GetTypeDescriptionResponse struct {
	Successful       bool                  `json:"successful"`
	FailureReason    string                `json:"failure_reason"`
	TypeDescription  TypeDescription       `json:"type_description"`
	TypeSources      []TypeSource          `json:"type_sources"`
	ExtraInformation []DescriptionKeyValue `json:"extra_information"`
}
