package parallel

import "context"

// Transport connects the ranks of a job. It is for one goroutine, but for Abort, which may be
// called at any time. How long it waits for a peer is its own affair; if it has a method
// SetTimeout(time.Duration), [Join] tells it what [Config] says.
type Transport interface {
	Rank() int  // of this process, counted from 0
	Ranks() int // of the job

	// Exchange sends bytes to a peer and fills recv with those that the peer sends, while the peer
	// calls Exchange with this rank and with slices of the same lengths the other way round. Either
	// slice may be empty. An error means that the job cannot go on: it names the peer, and wraps
	// [ErrLost] where the peer has ended or is silent for longer than the transport waits.
	Exchange(ctx context.Context, peer int, send, recv []byte) error

	// Abort makes the pending and later exchanges of all ranks fail, as far as it can reach them.
	Abort(cause error)
	Close() error

	// String names the transport for people: "tcp, 4 ranks", "Open MPI 4.1.4, 4 ranks".
	String() string
}
