package robot

// Names of what a robot has, in the order of its arrays: for what is said of a name
// that it does not have.

// JointNames returns the names of the independent joints.
func (m *Model) JointNames() []string {
	return names(m.joints, func(j *Joint) string { return j.Name })
}

// FrameNames returns the names of the frames.
func (m *Model) FrameNames() []string {
	return names(m.frames, func(f *Frame) string { return f.Name })
}

// GroupNames returns the names of the groups.
func (m *Model) GroupNames() []string {
	return names(m.groups, func(g *Group) string { return g.Name })
}

// ChainNames returns the names of the chains.
func (m *Model) ChainNames() []string {
	return names(m.chains, func(c *Chain) string { return c.Name })
}

// PoseNames returns the names of the declared poses.
func (m *Model) PoseNames() []string {
	return names(m.poses, func(p *NamedPose) string { return p.Name })
}

func names[T any](list []T, name func(*T) string) []string {
	all := make([]string, len(list))
	for i := range list {
		all[i] = name(&list[i])
	}
	return all
}
