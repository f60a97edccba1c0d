package data_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/array"
	"gorgonia.org/tensor"
)

// counted is a data set that counts the rows that are read, in all and at once at most.
type counted struct {
	data.Dataset
	mu         sync.Mutex
	rows, most int
}

func (c *counted) Gather(ctx context.Context, b data.Batch, rows []int) error {
	c.mu.Lock()
	c.rows, c.most = c.rows+len(rows), max(c.most, len(rows))
	c.mu.Unlock()
	if len(rows) == 0 || b.Rows != len(rows) {
		return fmt.Errorf("gather %d rows in a batch of %d", len(rows), b.Rows)
	}
	return c.Dataset.Gather(ctx, b, rows)
}

// count returns the rows that were read, in all and at once at most.
func (c *counted) count() (rows, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rows, c.most
}

// plainSource hides what Share knows of a source.
type plainSource struct{ data.Source }

// tenths returns a set of n rows, of all kinds of columns.
func tenths(t *testing.T, n int) *data.Set {
	x, y, z := make([]float32, 3*n), make([]float64, n), make([]int32, 2*n)
	for i := range x {
		x[i] = float32(i) / 10
	}
	for i := range n {
		y[i], z[2*i] = float64(i), int32(i)
	}
	set, err := data.NewSet(map[string]*tensor.Dense{
		"x": tensor.New(tensor.WithShape(n, 3), tensor.WithBacking(x)),
		"y": tensor.New(tensor.WithShape(n), tensor.WithBacking(y)),
		"z": tensor.New(tensor.WithShape(n, 2), tensor.WithBacking(z)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// sources are makers of sources of all kinds over rows; native says which read the part alone.
func sources(t *testing.T) (makers map[string]func(d data.Dataset) data.Source, native map[string]bool) {
	const rows, size = 53, 8
	lengths := make([]int, rows)
	for i := range lengths {
		lengths[i] = i % 3
	}
	buckets := data.Buckets{Lengths: lengths, Sizes: []int{1, 2}, Columns: []string{"z"}}
	must := func(s data.Source, err error) data.Source {
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	z, err := data.FitStandardiser(t.Context(), tenths(t, rows), "x")
	if err != nil {
		t.Fatal(err)
	}
	mixes := func(rng *rand.Rand, b data.Batch) error { // each row is changed by the one before
		x := b.Values["x"].Float32s()
		for i := 3; i < len(x); i++ {
			x[i] += x[i-3] * rng.Float32()
		}
		return nil
	}
	tokens := make([]int32, 500)
	for i := range tokens {
		tokens[i] = int32(i * i % 97)
	}
	makers = map[string]func(d data.Dataset) data.Source{
		"in order":            func(d data.Dataset) data.Source { return data.InOrder(d, size) },
		"in order, drop last": func(d data.Dataset) data.Source { return data.InOrder(d, size, data.DropLast()) },
		"all rows":            func(d data.Dataset) data.Source { return data.InOrder(d, 0) },
		"shuffled":            func(d data.Dataset) data.Source { return data.Shuffled(d, size, 1) },
		"drop last":           func(d data.Dataset) data.Source { return data.Shuffled(d, size, 1, data.DropLast()) },
		"carry over":          func(d data.Dataset) data.Source { return data.Shuffled(d, size, 1, data.CarryOver()) },
		"window":              func(d data.Dataset) data.Source { return data.Shuffled(d, size, 1, data.Window(20)) },
		"window, drop last":   func(d data.Dataset) data.Source { return data.Shuffled(d, size, 1, data.Window(9), data.DropLast()) },
		"buckets":             func(d data.Dataset) data.Source { return must(buckets.InOrder(d, size)) },
		"shuffled buckets":    func(d data.Dataset) data.Source { return must(buckets.Shuffled(d, size, 3)) },
		"where": func(d data.Dataset) data.Source {
			return data.Shuffled(data.Where(d, func(i int) bool { return i%3 > 0 }), size, 1)
		},
		"rowwise": func(d data.Dataset) data.Source {
			return data.Map(data.Shuffled(d, size, 1), 5, z.Change(), data.Noise("x", 0.5), data.Noise("y", 2), data.ReplaceNaN("x", 0))
		},
		"rowwise, window": func(d data.Dataset) data.Source {
			return data.Map(data.Shuffled(d, size, 1, data.Window(20)), 5, nil, data.Noise("x", 0.5))
		},
		"prefetch": func(d data.Dataset) data.Source { return data.Prefetch(data.Shuffled(d, size, 1), 3) },
		"prefetch of map": func(d data.Dataset) data.Source {
			return data.Prefetch(data.Map(data.InOrder(d, size), 5, data.Noise("x", 1)), 2)
		},
		"map of prefetch": func(d data.Dataset) data.Source {
			return data.Map(data.Prefetch(data.InOrder(d, size), 2), 5, data.Noise("x", 1))
		},
		"windows of tokens": func(data.Dataset) data.Source { return must(data.Windows(tokens, 7, 5, 2)) },
	}
	native = map[string]bool{}
	for name := range makers {
		native[name] = true
	}
	for name, s := range map[string]func(d data.Dataset) data.Source{
		"mixed": func(d data.Dataset) data.Source {
			return data.Map(data.Shuffled(d, size, 1), 5, data.Noise("x", 1), mixes, z.Change())
		},
		"prefetch of mixed": func(d data.Dataset) data.Source {
			return data.Prefetch(data.Map(data.Shuffled(d, size, 1), 5, mixes), 2)
		},
		"mixed of prefetch": func(d data.Dataset) data.Source {
			return data.Map(data.Prefetch(data.Shuffled(d, size, 1), 2), 5, mixes)
		},
		"of one's own": func(d data.Dataset) data.Source { return plainSource{data.Shuffled(d, size, 1)} },
		"map of one's own": func(d data.Dataset) data.Source {
			return data.Map(plainSource{data.Shuffled(d, size, 1)}, 5, data.Noise("x", 1))
		},
		"prefetch of one's own": func(d data.Dataset) data.Source {
			return data.Prefetch(plainSource{must(buckets.Shuffled(d, size, 3))}, 2)
		},
		"drawn": func(d data.Dataset) data.Source {
			return data.Drawn(d.NewBatch(size), 6, 4, func(rng *rand.Rand, b data.Batch) error {
				for i, x := 0, b.Values["y"].Float64s(); i < len(x); i++ {
					x[i] = rng.NormFloat64()
				}
				return nil
			})
		},
		"generated": func(data.Dataset) data.Source {
			return data.Generated("cubes", 3, func(t int) (map[string]*tensor.Dense, error) {
				return map[string]*tensor.Dense{
					"x":           tensor.New(tensor.WithShape(3), tensor.WithBacking([]int64{int64(t), int64(t * t), int64(t * t * t)})),
					"temperature": tensor.New(tensor.FromScalar(float32(t))),
				}, nil
			})
		},
		"no inputs": func(data.Dataset) data.Source { return data.Generated("none", 8, nil) },
	} {
		makers[name] = s
	}
	return makers, native
}

// third is the k-th of three parts of a batch, the second of which is empty for a few rows.
func third(k int) func(rows int) (from, to int) {
	return func(rows int) (from, to int) {
		cuts := []int{0, (rows + 1) / 2, (rows+1)/2 + rows/3, rows}
		return cuts[k], cuts[k+1]
	}
}

// joined returns an error unless the parts are together the whole batch.
func joined(whole data.Batch, parts []data.Batch) error {
	at := 0
	values := map[string][]byte{}
	for _, p := range parts {
		if p.From != at || p.Of != whole.Rows || p.Sizes != whole.Sizes || whole.Of != 0 {
			return fmt.Errorf("rows %d to %d of %d, sizes %v: want from %d of %d, %v", p.From, p.From+p.Rows, p.Of, p.Sizes, at, whole.Rows, whole.Sizes)
		}
		for i := range p.Rows {
			row, known := p.Row(i)
			if want, ok := whole.Row(at + i); row != want || known != ok {
				return fmt.Errorf("row %d is row %d (%t), want %d (%t)", at+i, row, known, want, ok)
			}
		}
		for name, x := range p.Values {
			if len(x.Shape()) == 0 {
				values[name] = x.Raw
				continue
			}
			if x.Shape()[0] != p.Rows {
				return fmt.Errorf("%s%v in a part of %d rows", name, x.Shape(), p.Rows)
			}
			values[name] = append(values[name], x.Raw...)
		}
		at += p.Rows
	}
	if at != whole.Rows || len(values) != len(whole.Values) {
		return fmt.Errorf("%d of %d rows, %d of %d arrays", at, whole.Rows, len(values), len(whole.Values))
	}
	for name, x := range whole.Values {
		if !bytes.Equal(values[name], x.Raw) {
			return fmt.Errorf("%s differs", name)
		}
	}
	return nil
}

// TestShare: the parts of a batch are together the whole batch, bit for bit, of every source, also
// after a Seek, and a source that can reads no more than the part.
func TestShare(t *testing.T) {
	makers, native := sources(t)
	for name, of := range makers {
		t.Run(name, func(t *testing.T) {
			all := &counted{Dataset: tenths(t, 53)}
			whole := of(all)
			var read [3]*counted
			var shares [3]data.Source
			made := []data.Source{whole}
			for k := range shares {
				read[k] = &counted{Dataset: all.Dataset}
				made = append(made, of(read[k]))
				shares[k] = data.Share(made[1+k], third(k))
			}
			check := func() {
				t.Helper()
				at := whole.Position()
				b, err := whole.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				parts := []data.Batch{}
				for k, s := range shares {
					if s.Position() != at {
						t.Fatalf("part %d at %v, want %v", k, s.Position(), at)
					}
					p, err := s.Next(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					parts = append(parts, p)
				}
				if err := joined(b, parts); err != nil {
					t.Fatalf("%v: %v", at, err)
				}
			}
			for range 25 {
				check()
			}
			positions := []data.Position{{Batch: 3}, {Batch: 1}}
			if !data.Endless(whole) {
				positions = append(positions, data.Position{Epoch: 4}, data.Position{Epoch: 1, Batch: whole.Batches() - 1})
			}
			for _, p := range positions {
				if whole.Batches() == 1 {
					p.Batch = 0
				}
				for _, s := range append(shares[:], whole) {
					if err := s.Seek(p); err != nil {
						t.Fatal(err)
					}
				}
				check()
				check()
			}
			for _, s := range shares {
				if data.Describe(s) != data.Describe(whole) || s.Batches() != whole.Batches() || data.Endless(s) != data.Endless(whole) {
					t.Errorf("%q, %d batches, want %q, %d", data.Describe(s), s.Batches(), data.Describe(whole), whole.Batches())
				}
				if err := s.Seek(data.Position{Batch: -1}); err == nil {
					t.Error("found a batch before the first")
				}
			}
			for _, s := range made {
				if c, ok := s.(interface{ Close() error }); ok {
					c.Close() // so that nothing reads
				}
			}
			if !native[name] {
				return
			}
			want, wantMost := all.count()
			sum := 0
			for _, c := range read {
				rows, _ := c.count()
				sum += rows
			}
			if ahead := strings.Contains(name, "prefetch"); !ahead && sum > want+8 {
				t.Errorf("parts read %d rows, the whole %d", sum, want)
			}
			_, most := read[0].count()
			if window := strings.Contains(name, "window"); !window && most > (wantMost+1)/2 {
				t.Errorf("the first half reads %d rows at once, the whole %d", most, wantMost)
			}
		})
	}
}

// closing closes a source in the end, if it is to be.
func closing(t *testing.T, s data.Source) {
	if c, ok := s.(interface{ Close() error }); ok {
		t.Cleanup(func() { c.Close() })
	}
}

// TestShareFiles: parts of rows on disk are read alone.
func TestShareFiles(t *testing.T) {
	folder := t.TempDir()
	var csv strings.Builder
	csv.WriteString("a,b,label\n")
	for i := range 40 {
		fmt.Fprintf(&csv, "%d,%d.5,%c\n", i, i, 'u'+i%3)
	}
	var npy bytes.Buffer
	numbers := make([]float32, 80)
	for i := range numbers {
		numbers[i] = float32(i)
	}
	if err := array.WriteNPY(&npy, tensor.New(tensor.WithShape(40, 2), tensor.WithBacking(numbers))); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string][]byte{"a.csv": []byte(csv.String()), "a.npy": npy.Bytes()} {
		if err := os.WriteFile(filepath.Join(folder, name), p, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	table, err := data.OpenCSV(t.Context(), filepath.Join(folder, "a.csv"), "x", "y", tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	records, err := data.OpenRecords(map[string]string{"x": filepath.Join(folder, "a.npy")})
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	for name, d := range map[string]data.Dataset{"csv": table, "records": records} {
		whole := data.Shuffled(d, 7, 1, data.Window(16))
		var shares [3]data.Source
		var read [3]*counted
		for k := range shares {
			read[k] = &counted{Dataset: d}
			shares[k] = data.Share(data.Shuffled(read[k], 7, 1, data.Window(16)), third(k))
		}
		for range 3 * whole.Batches() {
			b, err := whole.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var parts []data.Batch
			for _, s := range shares {
				p, err := s.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				parts = append(parts, p)
			}
			if err := joined(b, parts); err != nil {
				t.Fatal(name, err)
			}
		}
		if sum := read[0].rows + read[1].rows + read[2].rows; sum != 3*40 || read[0].rows > 3*24 {
			t.Errorf("%s: parts read %d rows, the first %d, of 3 epochs of 40", name, sum, read[0].rows)
		}
	}
}

// TestShareOf: shares of shares, changes of shares and shares that are read ahead are those of the
// source.
func TestShareOf(t *testing.T) {
	set := tenths(t, 53)
	noise := data.Noise("x", 1)
	half := func(rows int) (int, int) { return rows / 2, rows }
	source := func() data.Source { return data.Shuffled(set, 8, 1) }
	want := data.Share(data.Map(source(), 2, noise), half)
	ahead := data.Prefetch(data.Share(data.Map(source(), 2, noise), half), 2)
	defer ahead.Close()
	others := map[string]data.Source{
		"map of share":      data.Map(data.Share(source(), half), 2, noise),
		"prefetch of share": ahead,
		"share of all":      data.Share(data.Share(data.Map(source(), 2, noise), half), func(rows int) (int, int) { return 0, rows }),
	}
	quarter := data.Share(data.Share(data.Map(source(), 2, noise), half), func(rows int) (int, int) { return rows / 2, rows })
	for range 20 {
		b, err := want.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range others {
			o, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if o.From != b.From || o.Of != b.Of || !bytes.Equal(o.Values["x"].Raw, b.Values["x"].Raw) || s.Position() != want.Position() {
				t.Errorf("%s: rows %d of %d at %v: %v, want %v", name, o.From, o.Of, s.Position(), o.Values["x"], b.Values["x"])
			}
		}
		q, err := quarter.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if x := b.Values["x"].Raw; q.Of != b.Of || q.From+q.Rows != b.Of || !bytes.Equal(q.Values["x"].Raw, x[len(x)-q.Rows*12:]) {
			t.Errorf("a part of a part is rows %d of %d, %v", q.From, q.Of, q.Values["x"])
		}
	}
}

// TestShareSwitches: batches may be whole and in parts by turns, also where they are read ahead.
func TestShareSwitches(t *testing.T) {
	for name, of := range map[string]func() data.Source{
		"set":      func() data.Source { return data.Shuffled(tenths(t, 53), 8, 1) },
		"window":   func() data.Source { return data.Shuffled(tenths(t, 53), 8, 1, data.Window(20)) },
		"prefetch": func() data.Source { return data.Prefetch(data.Shuffled(tenths(t, 53), 8, 1), 3) },
	} {
		whole, source := of(), of()
		closing(t, whole)
		closing(t, source)
		parts := []data.Source{data.Share(source, third(0)), data.Share(source, third(1)), data.Share(source, third(2)), source}
		for range 20 {
			at := whole.Position()
			b, err := whole.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []data.Batch
			for k, s := range parts {
				if err := s.Seek(at); err != nil {
					t.Fatal(err)
				}
				p, err := s.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if k == 3 {
					p.Of = b.Rows // the parts are in memory of the source, and lost
					if err := joined(b, []data.Batch{p}); err != nil {
						t.Fatal(name, err)
					}
					break
				}
				var kept data.Batch
				kept.Copy(p)
				got = append(got, kept)
			}
			if err := joined(b, got); err != nil {
				t.Fatal(name, err)
			}
		}
	}
}

// TestShareErrors: a part that the batch does not have, and errors of the source, leave the position.
func TestShareErrors(t *testing.T) {
	makers, _ := sources(t)
	for name, of := range makers {
		source := of(tenths(t, 53))
		closing(t, source)
		s := data.Share(source, func(rows int) (int, int) { return 1, rows + 1 })
		for range 2 {
			_, err := s.Next(t.Context())
			if err == nil || !strings.Contains(err.Error(), "data: Share: rows 1 to ") || s.Position() != (data.Position{}) {
				t.Errorf("%s: %v at %v", name, err, s.Position())
			}
		}
	}
	broken := errors.New("broken")
	for _, rowwise := range []bool{false, true} {
		s := data.Share(data.Map(data.InOrder(tenths(t, 20), 5), 1, func(_ *rand.Rand, b data.Batch) error {
			if rowwise {
				b.Rowwise()
			}
			return broken
		}), third(0))
		for range 2 {
			if _, err := s.Next(t.Context()); !errors.Is(err, broken) || s.Position() != (data.Position{}) {
				t.Errorf("%v at %v", err, s.Position())
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := data.Share(data.InOrder(tenths(t, 20), 5), third(0)).Next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if s := data.InOrder(tenths(t, 20), 5); data.Share(s, nil) != s {
		t.Error("a share without a part is not the source")
	}
}

// TestShareAllocations: once its arrays exist, a share allocates nothing for a batch.
func TestShareAllocations(t *testing.T) {
	makers, _ := sources(t)
	for name, of := range makers {
		if strings.Contains(name, "prefetch") || name == "generated" || name == "where" && testing.Short() {
			continue
		}
		source := of(tenths(t, 53))
		s := data.Share(source, third(0))
		next := func() {
			if _, err := s.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 60 {
			next()
		}
		most := 0.0
		if strings.Contains(name, "buckets") {
			most = 3 // of each epoch
		}
		if n := testing.AllocsPerRun(40, next); n > most {
			t.Errorf("%s: %g allocations for a batch", name, n)
		}
	}
}
