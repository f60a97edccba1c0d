//go:build !unix

package parallel

import "net"

// awake is what sockets of Unix can do.
type awake struct{}

func newAwake(net.Conn) *awake { return nil }

func (*awake) wait() error               { return nil }
func (*awake) Read([]byte) (int, error)  { return 0, errNotYet }
func (*awake) Write([]byte) (int, error) { return 0, errNotYet }
