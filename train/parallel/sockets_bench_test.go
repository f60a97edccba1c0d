package parallel

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// benchmarkLengths are those of a signal, a small model, and a bucket.
var benchmarkLengths = []int{8, 4 << 10, 64 << 10, 1 << 20, 16 << 20}

// BenchmarkExchange is two ranks that exchange slices of one length, beside the same over plain
// connections without frames and checksums: one side writes and then reads, the other the other way
// round, or for what no buffer holds both do both at once.
func BenchmarkExchange(b *testing.B) {
	for _, network := range []string{"tcp", "unix"} {
		for _, n := range benchmarkLengths {
			name := fmt.Sprintf("%s/%d", network, n)
			for _, keyed := range []bool{false, true} {
				of := name + "/transport"
				var o []DialOption
				if keyed {
					of, o = name+"/tls", []DialOption{Key(testKey)}
				}
				b.Run(of, func(b *testing.B) {
					all := connected(b, freeAddress(b, network), 2, o...)
					pingPong(b, n, func(side int, send, recv []byte) error {
						return all[side].Exchange(context.Background(), 1-side, send, recv)
					})
				})
			}
			b.Run(name+"/plain", func(b *testing.B) {
				sides := plainPair(b, network)
				pingPong(b, n, func(side int, send, recv []byte) error {
					c := sides[side]
					if len(send) > inline {
						sent := make(chan error, 1)
						go func() { _, err := c.Write(send); sent <- err }()
						if _, err := io.ReadFull(c, recv); err != nil {
							return err
						}
						return <-sent
					}
					if _, err := c.Write(send); err != nil {
						return err
					}
					_, err := io.ReadFull(c, recv)
					return err
				})
			})
		}
	}
}

func pingPong(b *testing.B, n int, exchange func(side int, send, recv []byte) error) {
	b.SetBytes(int64(n))
	b.ReportAllocs()
	done := make(chan error, 1)
	b.ResetTimer()
	go func() {
		send, recv := make([]byte, n), make([]byte, n)
		for range b.N {
			if err := exchange(1, send, recv); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	send, recv := make([]byte, n), make([]byte, n)
	for range b.N {
		if err := exchange(0, send, recv); err != nil {
			b.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

func plainPair(b *testing.B, network string) [2]net.Conn {
	address := strings.SplitN(freeAddress(b, network), "://", 2)[1]
	l, err := net.Listen(network, address)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	x, err := net.Dial(network, address)
	if err != nil {
		b.Fatal(err)
	}
	y, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { x.Close(); y.Close() })
	return [2]net.Conn{x, y}
}
