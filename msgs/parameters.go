package msgs

// Kinds of parameters, in rcl_interfaces/ParameterType.
const (
	ParameterNotSet       = 0
	ParameterBool         = 1
	ParameterInteger      = 2
	ParameterDouble       = 3
	ParameterString       = 4
	ParameterBoolArray    = 6
	ParameterIntegerArray = 7
	ParameterDoubleArray  = 8
	ParameterStringArray  = 9
)

// ParameterValue is rcl_interfaces/ParameterValue.
type ParameterValue struct {
	Type              uint8     `json:"type"`
	BoolValue         bool      `json:"bool_value"`
	IntegerValue      int64     `json:"integer_value"`
	DoubleValue       float64   `json:"double_value"`
	StringValue       string    `json:"string_value"`
	ByteArrayValue    []uint8   `json:"byte_array_value" ros:"byte"`
	BoolArrayValue    []bool    `json:"bool_array_value"`
	IntegerArrayValue []int64   `json:"integer_array_value"`
	DoubleArrayValue  []float64 `json:"double_array_value"`
	StringArrayValue  []string  `json:"string_array_value"`
}

// Parameter is rcl_interfaces/Parameter.
type Parameter struct {
	Name  string         `json:"name"`
	Value ParameterValue `json:"value"`
}

// FloatingPointRange is rcl_interfaces/FloatingPointRange.
type FloatingPointRange struct {
	FromValue float64 `json:"from_value"`
	ToValue   float64 `json:"to_value"`
	Step      float64 `json:"step"`
}

// IntegerRange is rcl_interfaces/IntegerRange.
type IntegerRange struct {
	FromValue int64  `json:"from_value"`
	ToValue   int64  `json:"to_value"`
	Step      uint64 `json:"step"`
}

// ParameterDescriptor is rcl_interfaces/ParameterDescriptor.
type ParameterDescriptor struct {
	Name                  string               `json:"name"`
	Type                  uint8                `json:"type"`
	Description           string               `json:"description"`
	AdditionalConstraints string               `json:"additional_constraints"`
	ReadOnly              bool                 `json:"read_only"`
	DynamicTyping         bool                 `json:"dynamic_typing"`
	FloatingPointRange    []FloatingPointRange `json:"floating_point_range" bound:"1"`
	IntegerRange          []IntegerRange       `json:"integer_range" bound:"1"`
}

// SetParametersResult is rcl_interfaces/SetParametersResult.
type SetParametersResult struct {
	Successful bool   `json:"successful"`
	Reason     string `json:"reason"`
}

// ListParametersResult is rcl_interfaces/ListParametersResult.
type ListParametersResult struct {
	Names    []string `json:"names"`
	Prefixes []string `json:"prefixes"`
}

// GetParametersRequest is rcl_interfaces/GetParameters' request.
type GetParametersRequest struct {
	Names []string `json:"names"`
}

// GetParametersResponse is rcl_interfaces/GetParameters' response.
type GetParametersResponse struct {
	Values []ParameterValue `json:"values"`
}

// GetParameterTypesRequest is rcl_interfaces/GetParameterTypes' request.
type GetParameterTypesRequest struct {
	Names []string `json:"names"`
}

// GetParameterTypesResponse is rcl_interfaces/GetParameterTypes' response.
type GetParameterTypesResponse struct {
	Types []uint8 `json:"types"`
}

// DescribeParametersRequest is rcl_interfaces/DescribeParameters' request.
type DescribeParametersRequest struct {
	Names []string `json:"names"`
}

// DescribeParametersResponse is rcl_interfaces/DescribeParameters' response.
type DescribeParametersResponse struct {
	Descriptors []ParameterDescriptor `json:"descriptors"`
}

// SetParametersRequest is rcl_interfaces/SetParameters' request.
type SetParametersRequest struct {
	Parameters []Parameter `json:"parameters"`
}

// SetParametersResponse is rcl_interfaces/SetParameters' response.
type SetParametersResponse struct {
	Results []SetParametersResult `json:"results"`
}

// SetParametersAtomicallyRequest is rcl_interfaces/SetParametersAtomically's request.
type SetParametersAtomicallyRequest struct {
	Parameters []Parameter `json:"parameters"`
}

// SetParametersAtomicallyResponse is rcl_interfaces/SetParametersAtomically's response.
type SetParametersAtomicallyResponse struct {
	Result SetParametersResult `json:"result"`
}

// ListParametersRequest is rcl_interfaces/ListParameters' request.
type ListParametersRequest struct {
	Prefixes []string `json:"prefixes"`
	Depth    uint64   `json:"depth"`
}

// ListParametersResponse is rcl_interfaces/ListParameters' response.
type ListParametersResponse struct {
	Result ListParametersResult `json:"result"`
}
