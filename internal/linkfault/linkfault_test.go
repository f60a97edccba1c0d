package linkfault

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestProxy: each fault does to bytes what it says, in either direction, and to one connection only.
func TestProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sent := strings.Repeat("0123456789", 30)
	want := map[Kind]string{
		Cut:     sent[:155],
		Garble:  sent[:155] + "=" + sent[156:], // '5' with bit 155%8 = 3
		Silence: sent[:155],
		Omit:    sent[:155] + sent[255:],
		Repeat:  sent + sent[155:],
		Delay:   sent,
		Slow:    sent,
	}
	for _, kind := range Kinds() {
		for _, back := range []bool{false, true} {
			f := Fault{Kind: kind, Connection: 1, Back: back, After: 155, Wait: 300 * time.Millisecond}
			p, err := New(l.Addr().String(), f)
			if err != nil {
				t.Fatal(err)
			}
			for connection := range 3 {
				x, err := net.Dial("tcp", p.Address())
				if err != nil {
					t.Fatal(err)
				}
				y, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				if back {
					x, y = y, x
				}
				begun := time.Now()
				go func() {
					io.WriteString(x, sent)
					x.(*net.TCPConn).CloseWrite()
				}()
				y.SetReadDeadline(begun.Add(time.Second))
				got, err := io.ReadAll(y)
				took := time.Since(begun)
				x.Close()
				y.Close()
				switch {
				case connection != 1:
					if string(got) != sent || err != nil {
						t.Errorf("%v: connection %d gives %q, %v", f, connection, got, err)
					}
				case kind == Reset:
					if err == nil {
						t.Errorf("%v: no error", f)
					}
				case string(got) != want[kind]:
					t.Errorf("%v: %q, want %q", f, got, want[kind])
				}
				if silent := errors.Is(err, os.ErrDeadlineExceeded); connection == 1 && (kind == Silence) != silent {
					t.Errorf("%v: %v", f, err)
				}
				if late := took >= f.Wait; connection == 1 && !late && (kind == Delay || kind == Slow) {
					t.Errorf("%v: took %v", f, took)
				}
			}
			if p.Close(); !p.Hit() {
				t.Errorf("%v did not happen", f)
			}
			p.Close()
		}
	}
}
