package parallel

import (
	"bufio"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// frames is what the writer of frames sends for some slices.
func frames(all ...[]byte) []byte {
	var b strings.Builder
	w := frameWriter{c: &conn{stream: struct {
		io.Reader
		io.Writer
	}{nil, &b}}}
	for _, s := range all {
		w.write(s)
	}
	return []byte(b.String())
}

func readerOf(b []byte) *frameReader {
	return &frameReader{from: bufio.NewReaderSize(strings.NewReader(string(b)), headerBytes+inline)}
}

// TestFrames: every single bit of a stream counts, and so does the place of every frame.
func TestFrames(t *testing.T) {
	x, y, z := []byte("a slice"), content(1, 2, 3, 300), content(3, 2, 1, 20)
	whole := frames(x, y, z)
	read := func(b []byte) error {
		r := readerOf(b)
		for _, want := range [][]byte{x, y, z} {
			got := make([]byte, len(want))
			if err := r.read(got); err != nil {
				return err
			}
			if !slices.Equal(got, want) {
				t.Fatal("wrong bytes")
			}
		}
		return nil
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for i := range 8 * len(whole) {
		b := slices.Clone(whole)
		b[i/8] ^= 1 << (i % 8)
		if err := read(b); err == nil {
			t.Errorf("bit %d is not missed", i)
		}
	}
	for i := range len(whole) {
		if err := read(whole[:i]); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	one, two := frames(x), frames(x, y)[len(frames(x)):]
	for name, b := range map[string][]byte{
		"repeated":     slices.Concat(one, one, two),
		"missing":      two,
		"out of order": append(slices.Clone(two), one...),
		"other length": frames(x[:6], y, z),
		"cut in two":   frames(x[:3], x[3:], y, z),
	} {
		var f frameError
		if err := read(b); !errors.As(err, &f) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzFrames: a reader takes what a writer sent, and from anyone else nothing that costs more than
// it may.
func FuzzFrames(f *testing.F) {
	f.Add(frames([]byte("hello")), 5, 0)
	f.Add(frames(content(0, 1, 2, pieceBytes+10)), pieceBytes+10, 3)
	f.Add(frames([]byte(`{"Kind":"join","Rank":1,"Ranks":2,"At":"127.0.0.1:99"}`)), 10, 100)
	f.Add([]byte{}, 1, 0)
	huge := make([]byte, headerBytes)
	frameHeader{0, 1 << 40, pieceBytes, 1}.put(huge)
	f.Add(huge, 1<<20, 0)
	f.Fuzz(func(t *testing.T, b []byte, length, split int) {
		length = min(max(length, 1), 1<<20)
		got := make([]byte, length)
		if readerOf(b).read(got) == nil && !slices.Equal(frames(got), b[:min(len(b), len(frames(got)))]) {
			t.Error("what was read was not sent")
		}
		const limit = 4 << 10
		var before, after runtime.MemStats
		r := readerOf(b)
		runtime.ReadMemStats(&before)
		text, err := r.message(limit)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<10 || len(text) > limit {
			t.Errorf("%d bytes for a message of %d", grown, len(text))
		}
		if err == nil {
			parseMessage(text)
		}
		if len(b) > 0 { // and what is sent arrives, however it is cut
			b = b[:min(len(b), 1<<20)]
			split = min(max(split, 1), len(b))
			sent := frames(b[:split])
			if split < len(b) {
				sent = frames(b[:split], b[split:])
			}
			r := readerOf(sent)
			first, second := make([]byte, split), make([]byte, len(b)-split)
			if err := r.read(first); err != nil {
				t.Fatal(err)
			}
			if err := r.read(second); err != nil || !slices.Equal(append(first, second...), b) {
				t.Fatal(err)
			}
		}
	})
}

// FuzzGreeting: what strangers send first is refused or is within the limits.
func FuzzGreeting(f *testing.F) {
	f.Add([]byte(`{"Kind":"table","Rank":0,"Job":"x","Table":["127.0.0.1:1","[::1]:2"]}`))
	f.Add(preambleOf(true))
	f.Add([]byte(`{"Kind":"abort","Rank":-1,"Ranks":99999999,"Waits":5000}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var theirs [preambleBytes]byte
		copy(theirs[:], b)
		if err := checkPreamble(theirs, preamble(protocol, false)); err == nil && string(theirs[:8]) != preambleMagic {
			t.Error("a stranger is taken for a rank")
		}
		m, err := parseMessage(b)
		if err == nil && (m.Rank < 0 || m.Rank >= MaxLanes || m.To < 0 || m.To >= MaxLanes || m.Waits < -1 || m.Waits >= MaxLanes || len(m.Table) > MaxLanes) {
			t.Errorf("%+v", m)
		}
		localText("tcp", m.At)
		parseAddress(string(b))
	})
}

// TestSocketsAllocations: an exchange allocates nothing, of any length.
func TestSocketsAllocations(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	all := connected(t, freeAddress(t, "tcp"), 2)
	for _, n := range []int{1, inline, inline + 1, 3*pieceBytes + 5} {
		const warm, runs = 3, 20
		errs := make(chan error, 1)
		go func() {
			send, recv := make([]byte, n), make([]byte, n)
			for range warm + runs + 1 { // AllocsPerRun has one run more
				if err := all[1].Exchange(ctx, 0, send, recv); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
		send, recv := make([]byte, n), make([]byte, n)
		exchange := func() {
			if err := all[0].Exchange(ctx, 1, send, recv); err != nil {
				t.Fatal(err)
			}
		}
		for range warm {
			exchange()
		}
		if got := testing.AllocsPerRun(runs, exchange); got >= 1 {
			t.Errorf("%d bytes: %v allocations", n, got)
		}
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

// TestSocketsMisuse: mistakes of the caller are errors, and end nothing.
func TestSocketsMisuse(t *testing.T) {
	ctx := context.Background()
	all := connected(t, freeAddress(t, "unix"), 2, nil, Timeout(20*time.Second))
	for _, peer := range []int{-1, 0, 2} {
		if err := all[0].Exchange(ctx, peer, nil, nil); err == nil {
			t.Errorf("exchange with %d", peer)
		}
	}
	var nowhere context.Context
	if err := all[0].Exchange(nowhere, 1, nil, nil); err == nil {
		t.Error("no context")
	}
	if _, err := Dial(nowhere, "tcp://localhost:7000", 0, 2); err == nil {
		t.Error("no context")
	}
	if _, err := Dial(ctx, "tcp://localhost:7000", 0, 2, Timeout(-1)); err == nil {
		t.Error("negative timeout")
	}
	if _, err := Dial(ctx, "tcp://localhost:7000", 0, 2, Key(nil)); err == nil {
		t.Error("empty key")
	}
	if err := errors.Join(together(all, func(t Transport) error { return exchanges(ctx, t, lengths[:4]) })...); err != nil {
		t.Error(err)
	}
	all[0].Close()
	if err := all[0].Exchange(ctx, 1, nil, []byte{1}); err == nil {
		t.Error("exchange on a closed transport")
	}
	if err := all[0].Close(); err != nil {
		t.Error(err)
	}
	all[0].Abort(errors.New("late"))
	all[0].Abort(nil)
	var none *sockets
	none.Abort(nil)
	if none.Close() != nil || none.Exchange(ctx, 0, nil, nil) == nil || none.Ranks() != 1 || none.Rank() != 0 || none.String() == "" {
		t.Error("nil")
	}
}
