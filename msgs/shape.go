package msgs

// SolidPrimitive is shape_msgs/SolidPrimitive.
type SolidPrimitive struct {
	Type       uint8     `json:"type"`
	Dimensions []float64 `json:"dimensions" bound:"3"`
	Polygon    Polygon   `json:"polygon" form:"2"`
}

// Kinds of SolidPrimitive.
const (
	PrimitiveBox      = 1
	PrimitiveSphere   = 2 // dimensions: radius
	PrimitiveCylinder = 3
	PrimitiveCone     = 4
	PrimitivePrism    = 5
)

// MeshTriangle is shape_msgs/MeshTriangle.
type MeshTriangle struct {
	VertexIndices [3]uint32 `json:"vertex_indices"`
}

// Mesh is shape_msgs/Mesh.
type Mesh struct {
	Triangles []MeshTriangle `json:"triangles"`
	Vertices  []Point        `json:"vertices"`
}

// Plane is shape_msgs/Plane.
type Plane struct {
	Coef [4]float64 `json:"coef"`
}
