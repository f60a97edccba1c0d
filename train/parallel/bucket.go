package parallel

import (
	"fmt"
	"math/bits"
	"sync"
)

// Part is a run of values of a lane's term: Scale times the values of the one slice that is set.
// Scale is rounded to the type of the values, and so is the product before it is added.
type Part struct {
	Scale float64
	F32   []float32
	F64   []float64
}

// Bucket adds up the terms of one sum over lanes, each so many values of float32 and of float64:
// all gradients of a step, for example. A step puts the term of each of the rank's own lanes, from
// several goroutines if it likes, and then calls [Bucket.Sum] or [Bucket.ReduceScatter].
//
// Terms are added as they come. If lanes come in order, a bucket keeps log2(own lanes) + 1 terms,
// rounded up, for one goroutine, and one more for each further one that keeps pace; one that is slow
// leaves up to log2(own lanes) sums waiting. The memory of a step serves the next, which allocates
// nothing. [Bucket.Memory] counts what the sum across ranks takes, too.
type Bucket struct {
	ranks    *Ranks
	n32, n64 int
	add      arithmetic

	mu    sync.Mutex
	nodes []node // of the subtrees of the own lanes; the leaves come first, by lane
	roots []int  // from left to right
	put   int    // lanes
	free  []vector
	err   error // of a Put
	total vector

	sum     *reduction // of Sum; nil until then
	shards  *sharding  // of the last ReduceScatter or AllGather
	scratch scratch
}

// node is a subtree of lanes: one lane, or the sum of two others.
type node struct {
	parent, sibling int // −1 at a root
	put             bool
	full            bool // has a sum that has not been added to another
	sum             vector
}

// NewBucket returns a bucket for n32 values of float32 and n64 of float64. All ranks make their
// buckets of one size.
func (r *Ranks) NewBucket(n32, n64 int) *Bucket {
	b := &Bucket{ranks: r, n32: max(0, n32), n64: max(0, n64), add: newArithmetic()}
	from, to := r.Own()
	b.nodes = make([]node, to-from)
	for _, s := range r.subtrees(r.Rank()) {
		b.roots = append(b.roots, b.grow(s, from))
	}
	return b
}

// grow makes the nodes over some lanes and returns the topmost.
func (b *Bucket) grow(s span, first int) int {
	if s.size() == 1 {
		b.nodes[s.from-first] = node{parent: -1, sibling: -1}
		return s.from - first
	}
	mid := s.from + split(s.size())
	x, y := b.grow(span{s.from, mid}, first), b.grow(span{mid, s.to}, first)
	top := len(b.nodes)
	b.nodes = append(b.nodes, node{parent: -1, sibling: -1})
	b.nodes[x].parent, b.nodes[x].sibling = top, y
	b.nodes[y].parent, b.nodes[y].sibling = top, x
	return top
}

// Put sets the term of one of the rank's own lanes: the values of the parts, one behind the other
// by type. Values that the parts lack, or all if there are no parts, are zeros. It keeps nothing of
// the parts, and may be called for several lanes at once. A lane of another rank, a lane that was
// put already, and more values than the bucket has are errors of the sum that follows.
//
// A lane whose sibling in the tree is complete is added to it in one pass; another is copied, and
// scaled.
func (b *Bucket) Put(lane int, parts ...Part) {
	if b == nil || b.nodes == nil || !b.begin(lane, parts) {
		return
	}
	from, _ := b.ranks.Own()
	at := lane - from
	sum, ok := b.take(at)
	if ok {
		b.add.addParts(sum, parts)
		at = b.nodes[at].parent
	} else {
		sum = b.vector()
		b.add.set(sum, parts)
	}
	for {
		other, ok := b.meet(at, sum)
		if !ok {
			return
		}
		b.add.add(sum.mem, sum.mem, other.mem, b.n64)
		b.release(other)
		at = b.nodes[at].parent
	}
}

// begin marks a lane as put, or keeps the error if it cannot be.
func (b *Bucket) begin(lane int, parts []Part) bool {
	n32, n64 := 0, 0
	for _, p := range parts {
		n32, n64 = n32+len(p.F32), n64+len(p.F64)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	from, to := b.ranks.Own()
	var err error
	switch {
	case lane < from || lane >= to:
		err = fmt.Errorf("parallel: lane %d is put by rank %d, which has lanes %d to %d", lane, b.ranks.Rank(), from, to-1)
	case b.nodes[lane-from].put:
		err = fmt.Errorf("parallel: lane %d is put twice", lane)
	case n32 > b.n32 || n64 > b.n64:
		err = fmt.Errorf("parallel: lane %d puts %d values of float32 and %d of float64 into a bucket for %d and %d", lane, n32, n64, b.n32, b.n64)
	}
	if err != nil {
		if b.err == nil {
			b.err = err
		}
		return false
	}
	if b.put == 0 {
		b.forget()
	}
	b.nodes[lane-from].put = true
	b.put++
	return true
}

// forget takes back the memory of the last total.
func (b *Bucket) forget() {
	if b.total.mem != nil {
		b.free = append(b.free, b.total)
		b.total = vector{}
	}
}

// take returns the sum of a node's sibling, which is to be added to, if it is there.
func (b *Bucket) take(at int) (sum vector, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.takeSibling(at)
}

func (b *Bucket) takeSibling(at int) (sum vector, ok bool) {
	s := b.nodes[at].sibling
	if s < 0 || !b.nodes[s].full {
		return vector{}, false
	}
	b.nodes[s].full = false
	return b.nodes[s].sum, true
}

// meet is take, but leaves the sum at the node where the sibling's is not there.
func (b *Bucket) meet(at int, sum vector) (other vector, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if other, ok = b.takeSibling(at); !ok {
		b.nodes[at].sum, b.nodes[at].full = sum, true
	}
	return other, ok
}

// vector returns memory for a term.
func (b *Bucket) vector() vector {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.free); n > 0 {
		v := b.free[n-1]
		b.free = b.free[:n-1]
		return v
	}
	return newVector(b.n32, b.n64)
}

func (b *Bucket) release(v vector) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = append(b.free, v)
}

// Total returns the sums, float32 and float64 in the order of the parts, until the next Put or sum.
// Their elements may be changed: they are what [Bucket.AllGather] sends. Without a sum it is nil.
func (b *Bucket) Total() ([]float32, []float64) {
	if b == nil {
		return nil, nil
	}
	return b.total.f32, b.total.f64
}

// Clear empties the bucket, for a step that is given up. No Put may be running.
func (b *Bucket) Clear() {
	if b == nil {
		return
	}
	b.forget()
	for i := range b.nodes {
		if n := &b.nodes[i]; n.full {
			b.free = append(b.free, n.sum)
			n.full = false
		}
		b.nodes[i].put = false
	}
	b.put, b.err = 0, nil
}

// finish returns the sums of the own subtrees, from left to right, and empties the bucket but for
// their memory. It is an error if a Put was wrong, or a lane was not put.
func (b *Bucket) finish() ([]vector, error) {
	err := b.err
	for lane := range b.nodes[:b.own()] {
		if err == nil && !b.nodes[lane].put {
			from, _ := b.ranks.Own()
			err = fmt.Errorf("parallel: a sum without lane %d, which was not put", from+lane)
		}
	}
	if err != nil {
		b.Clear()
		return nil, err
	}
	b.scratch.terms = b.scratch.terms[:0]
	for _, root := range b.roots {
		b.scratch.terms = append(b.scratch.terms, b.nodes[root].sum)
		b.nodes[root].full = false
	}
	for lane := range b.nodes[:b.own()] {
		b.nodes[lane].put = false
	}
	b.put = 0
	return b.scratch.terms, nil
}

// own returns the number of own lanes.
func (b *Bucket) own() int {
	from, to := b.ranks.Own()
	return to - from
}

// Bytes returns the size of a term.
func (b *Bucket) Bytes() int {
	if b == nil {
		return 0
	}
	return 4*b.n32 + 8*b.n64
}

// Memory returns the bytes that a bucket keeps if the own lanes are put in order by so many
// goroutines that keep pace: its terms, and what [Bucket.Sum] needs to exchange them.
func (b *Bucket) Memory(goroutines int) int {
	if b == nil || b.nodes == nil {
		return 0
	}
	own := b.own()
	terms := min(own, bits.Len(uint(own-1))+max(1, goroutines))
	return terms*(beside(b.Bytes())+aligned(b.Bytes())) + b.schedule().memory(len(b.roots))
}
