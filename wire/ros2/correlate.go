package ros2

import (
	"bytes"

	"poise/rtps"
)

// request is a call as it comes over DDS. How an answer is correlated with it differs between
// implementations of ROS 2's middleware, and is seen from each request:
//
//   - rmw_fastrtps names, beside the request, the reader that takes the answer; the answer
//     names that reader and the number of the request.
//   - RustDDS in the mapping "enhanced" names nothing: the answer names the request's writer and
//     number.
//   - rmw_cyclonedds, and RustDDS in the mapping "cyclone", put 16 bytes before the body, which
//     the answer begins with.
type request struct {
	from    rtps.Prefix
	data    []byte        // CDR with its encapsulation header
	related rtps.Identity // what the answer refers to
	header  []byte        // with which the answer begins; nil without one
}

// headerSize is how long the header of rmw_cyclonedds is.
const headerSize = 16

// encapsulationSize is how long that of CDR is.
const encapsulationSize = 4

// correlate reads how a request is to be answered. ok is false if it is too short.
func correlate(s *rtps.Sample) (q request, ok bool) {
	q = request{from: s.Writer.Prefix, related: s.Identity}
	if s.Answers {
		q.related = s.Related
		if s.Related.Sequence == rtps.UnknownSequence || s.Related.Sequence <= 0 {
			q.related.Sequence = s.Sequence
		}
	}
	if !hasHeader(s) {
		q.data = append([]byte(nil), s.Payload...)
		return q, len(q.data) >= encapsulationSize
	}
	if len(s.Payload) < encapsulationSize+headerSize {
		return q, false
	}
	q.header = append([]byte(nil), s.Payload[encapsulationSize:encapsulationSize+headerSize]...)
	// 16 bytes less change no alignment
	q.data = append(append([]byte(nil), s.Payload[:encapsulationSize]...), s.Payload[encapsulationSize+headerSize:]...)
	return q, true
}

// hasHeader reports whether a request begins with 16 bytes of its own.
func hasHeader(s *rtps.Sample) bool {
	switch {
	case s.Vendor == rtps.VendorCyclone, bytes.Contains(s.UserData, []byte("clientid=")):
		return true
	case s.Vendor == rtps.VendorRustDDS:
		return s.Answers && s.Related.Writer == s.Writer
	}
	return false
}

// answer returns an answer as it is sent.
func (q *request) answer(body []byte) []byte {
	if q.header == nil {
		return body
	}
	out := append([]byte(nil), body[:encapsulationSize]...)
	return append(append(out, q.header...), body[encapsulationSize:]...)
}

// reader returns who takes the answer: a reader, or any of the participant.
func (q *request) reader() rtps.GUID {
	const kindReader = 0x04
	if q.related.Writer.Entity[3]&0x0f == kindReader {
		return q.related.Writer
	}
	return rtps.GUID{Prefix: q.from}
}
