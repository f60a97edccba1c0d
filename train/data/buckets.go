package data

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// Buckets puts rows of different lengths, such as sentences, into batches of rows of similar
// lengths, so that little of a batch is padding. The columns of the data set are padded to the
// longest row; a batch has only as much of them as its bucket needs, and says so as its Sizes, for
// which a [train.BuildSizes] builds the net:
//
//	b := data.Buckets{Lengths: lengths, Sizes: []int{8, 16, 32}, Columns: []string{"tokens", "mask"}}
//	source, err := b.Shuffled(set, 64, 1)
//
// A row belongs to the smallest bucket that is as long as the row. All rows of a batch come from one
// bucket. Each bucket's last batch of an epoch has the rows that are left over, so every row is in
// one batch of each epoch.
//
// [train.BuildSizes]: https://pkg.go.dev/github.com/tapestry-ml/tapestry/train#BuildSizes
type Buckets struct {
	Lengths []int    // of the rows of the data set, in their order
	Sizes   []int    // of the buckets, rising; the last is at least the longest row
	Columns []string // which have the places as their second axis: x[n t], x[n t d]
}

// InOrder returns a source of batches of size rows, those of the shortest bucket first, and within a
// bucket in the order of the data set, the same in every epoch. [Batch.Row] says which rows they
// are. Lengths and columns that do not fit the data set are an error, as is a size below 1.
func (k Buckets) InOrder(d Dataset, size int) (Source, error) { return k.source(d, size, nil) }

// Shuffled is like InOrder, with the rows of each bucket shuffled anew in every epoch, then cut into
// batches, and the batches of all buckets shuffled in turn. What an epoch looks like depends on the
// seed and on the epoch alone.
func (k Buckets) Shuffled(d Dataset, size int, seed uint64) (Source, error) {
	return k.source(d, size, &seed)
}

// bucketed is the source of Buckets.
type bucketed struct {
	Buckets
	data    Dataset
	size    int
	seed    *uint64 // nil for the order of the data set
	rows    [][]int // of each bucket
	at      Position
	epoch   int           // of batches; −1 at first
	batches []bucketBatch // of an epoch
	full    map[int]Batch // of the data set, by the number of rows
	cut     map[shape]Batch
}

// bucketBatch is some rows of a bucket.
type bucketBatch struct {
	bucket int
	rows   []int
}

func (k Buckets) source(d Dataset, size int, seed *uint64) (Source, error) {
	switch {
	case d == nil:
		return nil, errors.New("data: buckets of no data set")
	case size < 1:
		return nil, fmt.Errorf("data: buckets in batches of %d rows: want at least 1", size)
	case len(k.Lengths) != d.Rows():
		return nil, fmt.Errorf("data: buckets: %d lengths of %d rows", len(k.Lengths), d.Rows())
	case len(k.Sizes) == 0 || !slices.IsSorted(k.Sizes) || k.Sizes[0] < 1:
		return nil, fmt.Errorf("data: buckets of sizes %v: want rising numbers from 1", k.Sizes)
	case len(k.Lengths) == 0:
		return nil, errors.New("data: buckets of a data set without rows")
	}
	longest := k.Sizes[len(k.Sizes)-1]
	one := d.NewBatch(1)
	for _, name := range k.Columns {
		t := one.Values[name]
		if tensors.CheckColumn(t) != "" {
			return nil, fmt.Errorf("data: buckets: the data set has no column %s", input.Quote(name))
		}
		if s := t.Shape(); len(s) < 2 || s[1] < longest {
			return nil, fmt.Errorf("data: buckets: column %s has rows of shape %v: want at least %d places, the size of the largest bucket", input.Quote(name), []int(s[1:]), longest)
		}
	}
	b := &bucketed{Buckets: k, data: d, size: size, seed: seed, rows: make([][]int, len(k.Sizes)), epoch: -1, full: map[int]Batch{}, cut: map[shape]Batch{}}
	for row, n := range k.Lengths {
		if n < 0 || n > longest {
			return nil, fmt.Errorf("data: buckets: row %d has length %d: want 0 to %d, the size of the largest bucket", row, n, longest)
		}
		i, _ := slices.BinarySearch(k.Sizes, n)
		b.rows[i] = append(b.rows[i], row)
	}
	return b, nil
}

// String is for Describe.
func (b *bucketed) String() string {
	kind, seed := "in order", ""
	if b.seed != nil {
		kind, seed = "shuffled", fmt.Sprintf(", seed %d", *b.seed)
	}
	return fmt.Sprintf("%s(%d rows in buckets %v, batches of %d%s)", kind, len(b.Lengths), b.Sizes, b.size, seed)
}

func (b *bucketed) Position() Position { return b.at }

func (b *bucketed) Batches() int {
	n := 0
	for _, rows := range b.rows {
		n += (len(rows) + b.size - 1) / b.size
	}
	return n
}

func (b *bucketed) Seek(p Position) error {
	if err := p.check(b.Batches()); err != nil {
		return err
	}
	b.at = p
	return nil
}

// begin makes the list of the batches of an epoch.
func (b *bucketed) begin(epoch int) {
	if b.epoch == epoch {
		return
	}
	b.epoch, b.batches = epoch, b.batches[:0]
	draws := newDraws()
	for i, rows := range b.rows {
		if b.seed != nil {
			rows = slices.Clone(rows)
			draws.at(mix(*b.seed)+uint64(epoch), uint64(i)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		for part := range slices.Chunk(rows, b.size) {
			b.batches = append(b.batches, bucketBatch{i, part})
		}
	}
	if all := b.batches; b.seed != nil {
		draws.at(mix(*b.seed)+uint64(epoch), uint64(len(b.rows))).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
}

func (b *bucketed) Next(ctx context.Context) (Batch, error) { return b.nextPortion(ctx, nil) }

func (b *bucketed) nextPortion(ctx context.Context, p *portion) (Batch, error) {
	if err := ctx.Err(); err != nil {
		return Batch{}, err
	}
	b.begin(b.at.Epoch)
	of := b.batches[b.at.Batch]
	from, to, err := p.of(len(of.rows))
	if err != nil {
		return Batch{}, err
	}
	rows := of.rows[from:to]
	full, ok := b.full[len(rows)]
	if !ok && len(rows) > 0 {
		full = b.data.NewBatch(len(rows))
		b.full[len(rows)] = full
	}
	if len(rows) > 0 {
		if err := b.data.Gather(ctx, full, rows); err != nil {
			return Batch{}, err
		}
	}
	places := b.Sizes[of.bucket]
	key := shape{len(rows), attr.IntsOf(places)}
	out, ok := b.cut[key]
	if !ok {
		out = Batch{Rows: key.rows, Sizes: key.sizes, Values: map[string]*tensor.Dense{}}
		for name, t := range full.Values {
			row := slices.Clone([]int(t.Shape()[1:]))
			if slices.Contains(b.Columns, name) {
				row[0] = places
			}
			out.Values[name] = tensors.New(t.Dtype(), key.rows, row)
		}
		b.cut[key] = out
	}
	for name, t := range full.Values {
		// A row of fewer places is the beginning of the whole row.
		to, from := tensors.Bytes(out.Values[name]), tensors.Bytes(t)
		n, all := len(to)/key.rows, len(from)/key.rows
		for i := range key.rows {
			copy(to[i*n:(i+1)*n], from[i*all:])
		}
	}
	out.rows = rows
	b.at = b.at.after(len(b.batches))
	return p.mark(out, from, len(of.rows)), nil
}
