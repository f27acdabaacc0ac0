package urdf

import "testing"

func FuzzURDF(f *testing.F) {
	f.Add([]byte(complete))
	f.Add([]byte("\ufeff" + wrap(twoLinks+inertial)))
	f.Add([]byte(jointWith("<limit lower='-1' upper='1e999'/><axis xyz='0 0 0'/><mimic joint='j'/>")))
	f.Add([]byte(shapeWith("<capsule radius='1' length='-0'/><x:y xmlns:x='u'/>")))
	f.Add([]byte("<robot name='r' xmlns='u'><transmission>a<b xmlns='v'/>c<d/></transmission><link name='&#10;'/></robot>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, _, err := Parse(data, "f.urdf"); err == nil {
			checkPrinted(t, d)
		}
	})
}

func FuzzSRDF(f *testing.F) {
	f.Add([]byte(completeSRDF))
	f.Add([]byte(wrap("<group name='a'><group name='b'/></group><group name='b'><group name='a'/></group>")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, _, err := ParseSRDF(data, "f.srdf"); err == nil {
			checkPrintedSRDF(t, s)
		}
	})
}
