package parallel

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// speak connects to rank 0 of a job as somebody else might, sends bytes, and keeps the connection.
func speak(t *testing.T, address string, b []byte) net.Conn {
	t.Helper()
	for range 200 {
		c, err := net.Dial("tcp", strings.TrimPrefix(address, "tcp://"))
		if err == nil {
			c.Write(b)
			return c
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nobody listens")
	return nil
}

// framed is a message as it goes through a connection, after the preamble.
func framed(m message) []byte {
	text, _ := json.Marshal(m)
	return append(preambleOf(false), frames(text)...)
}

// containsAny reports whether a text contains one of some others, which | separates.
func containsAny(text, any string) bool {
	for _, one := range strings.Split(any, "|") {
		if strings.Contains(text, one) {
			return true
		}
	}
	return false
}

// TestSocketsToldInGreeting: who has been greeted by rank 0, and has not yet said who he is, is told why
// the job ends.
func TestSocketsToldInGreeting(t *testing.T) {
	address := freeAddress(t, "tcp")
	ended := make(chan error, 1)
	go func() {
		_, err := Dial(context.Background(), address, 0, 3, Timeout(20*time.Second))
		ended <- err
	}()
	raw := speak(t, address, nil)
	defer raw.Close()
	if _, err := io.ReadFull(raw, make([]byte, preambleBytes)); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(context.Background(), address, 2, 4, Timeout(20*time.Second)); err == nil {
		t.Error("a rank that counts otherwise is connected")
	}
	raw.SetDeadline(time.Now().Add(5 * time.Second))
	m, err := newConn(raw, 0).receiveMessage(messageBytes)
	if want := "rank 2 counts 4 ranks, and rank 0 counts 3"; err != nil || m.Kind != kindAbort || !strings.Contains(m.Text, want) {
		t.Errorf("told %+v, %v: want %s", m, err, want)
	}
	if err := <-ended; err == nil {
		t.Error("rank 0 is connected")
	}
}

// TestSocketsMismatch: ranks that do not belong together are told so, all of them.
func TestSocketsMismatch(t *testing.T) {
	type rank struct {
		rank, ranks int
		options     []DialOption
		want        string
	}
	key, other := Key(testKey), Key([]byte(strings.Repeat("K", keyBytes)))
	soon := Timeout(1500 * time.Millisecond)
	unleaked(t, func() {
		var wait sync.WaitGroup
		for name, ranks := range map[string][]rank{
			"counts": {
				{0, 3, nil, "rank 2 counts 4 ranks, and rank 0 counts 3"},
				{1, 3, []DialOption{soon}, "rank 2 counts 4 ranks, and rank 0 counts 3|rank 0 was not reached within 1.5s"}, // who comes later meets nobody
				{2, 4, nil, "rank 2 counts 4 ranks, and rank 0 counts 3"},
			},
			"number": {
				{0, 3, nil, "two processes claim to be rank 1"},
				{1, 3, nil, "two processes claim to be rank 1"},
				{1, 3, nil, "two processes claim to be rank 1"},
			},
			"two of number 0": {
				{0, 2, []DialOption{soon}, ""},
				{0, 2, []DialOption{soon}, ""},
			},
			"range": {
				{0, 1, nil, "nil"},
				{3, 3, nil, "parallel: rank 3 of 3: ranks are counted from 0 to 2"},
				{-1, 3, nil, "parallel: rank -1 of 3: ranks are counted from 0 to 2"},
				{0, 0, nil, "parallel: 0 ranks: want 1 to 1024"},
			},
			"keys": {
				{0, 2, []DialOption{key, soon}, "it has another key"},
				{1, 2, []DialOption{other}, "it has another key"},
			},
			"key on one side": {
				{0, 2, []DialOption{key, soon}, "it was given no key, and this rank was: give all ranks the same, or none"},
				{1, 2, nil, "it was given a key, and this rank was not: give all ranks the same, or none"},
			},
			"key on the other side": {
				{0, 2, nil, "it was given a key, and this rank was not: give all ranks the same, or none"},
				{1, 2, []DialOption{key}, "it was given no key, and this rank was: give all ranks the same, or none"},
			},
			"short key": {{0, 2, []DialOption{Key([]byte("secret"))}, "a key of 6 bytes can be guessed: want 32 or more"}},
			"missing":   {{0, 4, []DialOption{soon}, "parallel: ranks 2, 3 of 4 did not come to tcp://"}, {1, 4, nil, "ranks 2, 3 of 4 did not come to tcp://"}},
			"alone":     {{1, 4, []DialOption{soon}, "rank 0 was not reached within 1.5s: dial tcp"}},
		} {
			wait.Go(func() {
				address := freeAddress(t, "tcp")
				errs := make(chan error)
				for _, r := range ranks {
					go func() {
						s, err := Dial(context.Background(), address, r.rank, r.ranks, append([]DialOption{Timeout(20 * time.Second)}, r.options...)...)
						switch {
						case err == nil && r.want != "nil":
							t.Errorf("%s: rank %d of %d is connected", name, r.rank, r.ranks)
						case err == nil:
							s.Close()
						case !containsAny(err.Error(), r.want) || !strings.HasPrefix(err.Error(), "parallel: "):
							t.Errorf("%s: rank %d of %d: %v, want %s", name, r.rank, r.ranks, err, r.want)
						}
						errs <- err
					}()
				}
				start := time.Now()
				var all []error
				for range ranks {
					all = append(all, <-errs)
				}
				if took := time.Since(start); took > 15*time.Second {
					t.Errorf("%s: %v", name, took)
				}
				if name == "two of number 0" && !strings.Contains(errors.Join(all...).Error(), "is in use, maybe by a job that still runs") {
					t.Error(all)
				}
			})
		}
		wait.Wait()
	})
}

// TestSocketsVersion: another version of the protocol is named on both sides.
func TestSocketsVersion(t *testing.T) {
	address := freeAddress(t, "tcp")
	done := make(chan error)
	go func() {
		_, err := Dial(context.Background(), address, 0, 2)
		done <- err
	}()
	p := preamble(protocol+1, false)
	c := speak(t, address, p[:])
	defer c.Close()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "it speaks version 2 of the protocol, and this rank version 1") {
		t.Error(err)
	}
	var theirs [preambleBytes]byte
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Read(theirs[:]); err != nil || theirs != preamble(protocol, false) {
		t.Error(err, theirs)
	}
}

// TestSocketsStrangers: a job begins whoever else comes to its address.
func TestSocketsStrangers(t *testing.T) {
	unleaked(t, func() {
		for _, keyed := range []bool{false, true} {
			address := freeAddress(t, "tcp")
			var o []DialOption
			if keyed {
				o = []DialOption{Key(testKey)}
			}
			first := make(chan Transport)
			go func() {
				s, err := Dial(context.Background(), address, 0, 2, o...)
				if err != nil {
					t.Error(err)
				}
				first <- s
			}()
			p := preamble(protocol, keyed)
			huge := append(p[:], make([]byte, headerBytes)...)
			frameHeader{0, 1 << 60, pieceBytes, 0}.put(huge[preambleBytes:])
			for _, b := range [][]byte{
				nil, []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), []byte(strings.Repeat("\xff", 1<<16)), p[:5], p[:], huge,
				framed(message{Kind: kindData, Rank: 1, Ranks: 2, Job: "another"}), framed(message{Kind: "dance"}), framed(message{})[:40],
			} {
				if keyed && len(b) > preambleBytes && string(b[:preambleBytes]) == string(preambleOf(false)) {
					copy(b, preambleOf(true))
				}
				for range 5 {
					defer speak(t, address, b).Close()
				}
			}
			s, err := Dial(context.Background(), address, 1, 2, o...)
			if err != nil {
				t.Fatal(err)
			}
			all := []Transport{<-first, s}
			if err := errors.Join(together(all, func(t Transport) error { return exchanges(context.Background(), t, lengths) })...); err != nil {
				t.Error(err)
			}
			all[0].Close()
			all[1].Close()
		}
	})
}

func preambleOf(keyed bool) []byte {
	p := preamble(protocol, keyed)
	return p[:]
}

// TestSocketsAddress: an address that will not do is refused with what to do.
func TestSocketsAddress(t *testing.T) {
	dir := t.TempDir()
	busy := filepath.Join(dir, "busy")
	l, err := net.Listen("unix", busy)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"":                           `address "": it begins with neither: want tcp://HOST:PORT or unix:///PATH`,
		"localhost:7000":             "it begins with neither",
		"tcp://localhost":            "missing port in address",
		"tcp://localhost:0":          `port "0" is not one of 1 to 65535`,
		"tcp://localhost:http":       `port "http" is not one of 1 to 65535`,
		"tcp://:7000":                "there is no host, which the other ranks must know",
		"tcp://0.0.0.0:7000":         "tcp://0.0.0.0:7000 (0.0.0.0) is beyond the loopback, where ranks need a key in common: write one with openssl rand -hex 32 > FILE",
		"tcp://192.0.2.1:7000":       "is beyond the loopback, where ranks need a key in common",
		"tcp://[2001:db8::1]:7000":   "is beyond the loopback, where ranks need a key in common",
		"unix://job":                 "the path does not begin with /",
		"unix:///tmp/":               "the path names a folder",
		"unix://" + busy:             "is in use, maybe by a job that still runs: end it, or choose another path",
		"unix://" + file:             "is in use",
		"unix://" + dir + "/no/such": "its folder does not exist: make it, or choose another path",
		"unix:///tmp/" + strings.Repeat("x", 100): "the path has 105 bytes, and a Unix socket's may have 98 with the number of a rank: choose a shorter one, such as /tmp/job",
		"unix://" + locked + "/s":                 "no permission to write there: choose a path in a folder of your own",
	} {
		if strings.Contains(address, "locked") && os.Getuid() <= 0 { // root may, and Windows has no such folders
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if _, err := Dial(ctx, address, 0, 2); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "parallel: ") {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
		cancel()
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "data" {
		t.Errorf("a file in the way is lost: %q %v", b, err)
	}
	// With a key it is only that the address is not of this machine.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := Dial(ctx, "tcp://192.0.2.1:7000", 0, 2, Key(testKey)); err == nil || !strings.Contains(err.Error(), "is not an address of this machine") {
		t.Error(err)
	}
}

// TestSocketsStale: what a killed process leaves of a Unix socket is in nobody's way, and what
// listens is for this user alone.
func TestSocketsStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for _, p := range []string{path, path + ".1"} {
		l, err := net.Listen("unix", p)
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
	}
	first := make(chan error)
	var t0 Transport
	go func() {
		var err error
		t0, err = Dial(context.Background(), "unix://"+path, 0, 2)
		first <- err
	}()
	for runtime.GOOS != "windows" {
		if info, err := os.Lstat(path); err == nil && info.Mode().Perm() == 0o600 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	t1, err := Dial(context.Background(), "unix://"+path, 1, 2)
	if err := errors.Join(err, <-first); err != nil {
		t.Fatal(err)
	}
	t0.Close()
	t1.Close()
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSocketsDialContext: the end of the context ends Dial, on any rank.
func TestSocketsDialContext(t *testing.T) {
	unleaked(t, func() {
		address := freeAddress(t, "tcp")
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		done := make(chan error)
		for rank := range 2 { // rank 2 never comes
			go func() {
				c := ctx
				if rank == 1 {
					c = context.Background()
				}
				_, err := Dial(c, address, rank, 3)
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err == nil || !strings.Contains(err.Error(), "rank 0: context canceled") {
				t.Error(err)
			}
		}
		if _, err := Dial(ctx, address, 1, 3); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestSocketsTLS: with a key, nothing is readable on the way, and who has not the key gets nowhere,
// whatever certificate he shows.
func TestSocketsTLS(t *testing.T) {
	ours, err := identify(testKey)
	if err != nil {
		t.Fatal(err)
	}
	other, err := identify([]byte(strings.Repeat("K", keyBytes)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := identify(testKey)
	if err != nil {
		t.Fatal(err)
	}
	none := &identity{ours.config.Clone()}
	none.config.Certificates = nil
	forged := &identity{ours.config.Clone()} // the certificate without its private key
	forged.config.Certificates = []tls.Certificate{{Certificate: ours.config.Certificates[0].Certificate, PrivateKey: other.config.Certificates[0].PrivateKey}}
	for name, test := range map[string]struct {
		client, server *identity
		ok             bool
	}{"same": {ours, again, true}, "other client": {other, ours, false}, "other server": {ours, other, false}, "no certificate": {none, ours, false},
		"forged client": {forged, ours, false}, "forged server": {ours, forged, false}} {
		c, s := net.Pipe()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		done := make(chan error)
		client, server := newConn(c, 0), newConn(s, 0)
		go func() {
			err := test.client.secure(ctx, client, false)
			if err == nil { // who is refused learns it when it reads
				_, err = client.in.message(100)
			}
			done <- err
			c.Close()
		}()
		err := test.server.secure(ctx, server, true)
		if err == nil {
			err = server.out.write([]byte("hello"))
		}
		s.Close()
		if e := <-done; (err == nil && e == nil) != test.ok {
			t.Errorf("%s: %v, %v", name, err, e)
		}
		cancel()
	}
}
