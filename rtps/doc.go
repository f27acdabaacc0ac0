// Package rtps is the wire protocol of DDS, RTPS 2.x over UDP, in Go alone: participants find
// each other and each other's endpoints, and writers and readers of the same topic and type
// exchange samples, as bytes.
//
//	p, err := rtps.New(rtps.Config{Domain: 0, Name: "poise"})
//	w, err := p.NewWriter(rtps.WriterConfig{Topic: "rt/chatter", Type: "std_msgs::msg::dds_::String_"})
//	w.Write(payload, nil)   // no allocation once the history is full
//	r, err := p.NewReader(rtps.ReaderConfig{Topic: …, Type: …, Receive: func(s *rtps.Sample) { … }})
//	p.Close()               // tells the others that everything is gone
//
// It does not depend on ROS, and needs only a network: a Transport, by default UDP.
//
// # Guarantees
//
//   - A closed participant, which is the default, is on this machine alone: multicast has
//     TTL 0 on every interface, datagrams go to addresses of this machine only, and what
//     comes from others is dropped and counted.
//   - Datagrams to a participant go to the address from which it has sent, or to this
//     machine, whatever other locators it announces.
//   - Reliable samples arrive once and in order, as long as their writer keeps them.
//     Best-effort ones arrive at most once, and never after a newer one.
//   - A reader that asks for no history gets nothing that was written before it was made: an
//     old request is not carried out again after a restart. Samples that a writer has written
//     since it knows the reader are requested again, if they were lost or came before the
//     reader knew the writer.
//   - The memory that peers can make the participant hold is bounded (Limits), and so is the
//     rate of the bytes that they can make it send.
//   - Unknown submessages and parameters are skipped. No input makes the participant panic.
//
// # How it works
//
// The state of a participant has one lock. Datagrams are handled one after the other; samples
// are then given to their readers, without the lock and in order, by the goroutine that read
// them: a Receive function may write, and must not wait. One further goroutine does what is
// due: announcements, heartbeats, leases, and fragments that wait for their turn. There is no
// goroutine for a sample, a writer or a reader.
//
// A sample goes to all its readers as one datagram each, with a heartbeat behind it, so that
// the next one shows what was lost. Until all have acknowledged, a heartbeat that asks for
// an answer follows every 50 ms, later every second. Samples longer than
// Config.FragmentSize go in fragments.
//
// # References
//
//   - OMG formal/2022-04-01, DDSI-RTPS 2.5: sections 8.3 (messages), 8.4 (behaviour),
//     8.5 (discovery), 9 (UDP).
//   - OMG formal/2015-04-10, DDS 1.4: section 2.2.3, quality of service and what matches.
package rtps
