package ros2

import (
	"bytes"
	"testing"

	"poise/rtps"
)

// TestRequestsAreToldApart: how a request of each middleware is answered is seen from the request itself,
// also when requests of all of them come in turn on one service.
func TestRequestsAreToldApart(t *testing.T) {
	writer := rtps.GUID{Prefix: rtps.Prefix{1}, Entity: rtps.EntityID{0, 0, 9, 0x03}}
	reader := rtps.GUID{Prefix: rtps.Prefix{1}, Entity: rtps.EntityID{0, 0, 10, 0x04}}
	wrote := rtps.Identity{Writer: writer, Sequence: 7}
	body := []byte{0, 1, 0, 0, 'b', 'o', 'd', 'y'}
	header := []byte("sixteen bytes of")
	headed := bytes.Join([][]byte{body[:encapsulationSize], header, body[encapsulationSize:]}, nil)
	whole := rtps.GUID{Prefix: writer.Prefix}
	for name, c := range map[string]struct {
		sample  rtps.Sample
		ok      bool
		related rtps.Identity // that the answer names
		header  bool          // the answer begins as the request does
		to      rtps.GUID
	}{
		"rmw_fastrtps names the reader": {rtps.Sample{Payload: body, Answers: true, Related: rtps.Identity{Writer: reader, Sequence: rtps.UnknownSequence}},
			true, rtps.Identity{Writer: reader, Sequence: 7}, false, reader},
		"rmw_fastrtps with a number of its own": {rtps.Sample{Payload: body, Answers: true, Related: rtps.Identity{Writer: reader, Sequence: 3}},
			true, rtps.Identity{Writer: reader, Sequence: 3}, false, reader},
		"a number below 1 does not count": {rtps.Sample{Payload: body, Answers: true, Related: rtps.Identity{Writer: reader, Sequence: -5}},
			true, rtps.Identity{Writer: reader, Sequence: 7}, false, reader},
		"RustDDS, enhanced, names nothing": {rtps.Sample{Payload: body, Vendor: rtps.VendorRustDDS},
			true, wrote, false, whole},
		"RustDDS, cyclone, names its own writer": {rtps.Sample{Payload: headed, Vendor: rtps.VendorRustDDS, Answers: true, Related: wrote},
			true, wrote, true, whole},
		"Cyclone DDS": {rtps.Sample{Payload: headed, Vendor: rtps.VendorCyclone},
			true, wrote, true, whole},
		"rmw_cyclonedds on another vendor's DDS": {rtps.Sample{Payload: headed, UserData: []byte("clientid=0.1;")},
			true, wrote, true, whole},
		"too short for a header": {rtps.Sample{Payload: headed[:encapsulationSize+headerSize-1], Vendor: rtps.VendorCyclone}, false, wrote, false, whole},
		"too short for CDR":      {rtps.Sample{Payload: body[:encapsulationSize-1]}, false, wrote, false, whole},
		"empty":                  {rtps.Sample{}, false, wrote, false, whole},
	} {
		c.sample.Payload = bytes.Clone(c.sample.Payload)
		c.sample.Writer, c.sample.Sequence, c.sample.Identity = writer, 7, wrote
		q, ok := correlate(&c.sample)
		if ok != c.ok {
			t.Errorf("%s: taken: %v", name, ok)
		}
		if !ok {
			continue
		}
		if q.from != writer.Prefix || !bytes.Equal(q.data, body) || q.related != c.related || q.reader() != c.to {
			t.Errorf("%s: %+v, to %v", name, q, q.reader())
		}
		want := body
		if c.header {
			want = headed
		}
		if out := q.answer(body); !bytes.Equal(out, want) {
			t.Errorf("%s: the answer is %q", name, out)
		}
		clear(c.sample.Payload) // it is the datagram's memory
		if out := q.answer(q.data); !bytes.Equal(out, want) {
			t.Errorf("%s: the request is %q when the datagram is gone", name, out)
		}
	}
}
