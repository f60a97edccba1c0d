package edges

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

func TestReadEdges(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opts       []input.Option
		want       Network
	}{
		{"commas", "0,1\n1,2\n", nil, Network{Nodes: 3, From: []int{0, 1}, To: []int{1, 2}, Lines: []int{1, 2}}},
		{"white space", "# nodes, edges\n 0   1\n1\t \t2 \n", nil, Network{Nodes: 3, From: []int{0, 1}, To: []int{1, 2}, Lines: []int{2, 3}}},
		{"tabs", "# FromNodeId\tToNodeId\n0\t1\n", nil, Network{Nodes: 2, From: []int{0}, To: []int{1}, Lines: []int{2}}},
		{"other comments", "% x\n0 1\n", []input.Option{data.Comment('%')}, Network{Nodes: 2, From: []int{0}, To: []int{1}, Lines: []int{2}}},
		{"header above numbers", "a,b\n0,1\n", nil, Network{Nodes: 2, From: []int{0}, To: []int{1}, Lines: []int{2}}},
		{"header above names", "Source;Target;x\nu;v;2\n", nil,
			Network{Nodes: 2, Names: []string{"u", "v"}, From: []int{0}, To: []int{1}, Weight: []float64{2}, Lines: []int{2}}},
		{"names without header", "v u\nu w\n", nil,
			Network{Nodes: 3, Names: []string{"u", "v", "w"}, From: []int{1, 0}, To: []int{0, 2}, Lines: []int{1, 2}}},
		{"names that a header would have", "from,to\nto,b\n", []input.Option{data.Header(false)},
			Network{Nodes: 3, Names: []string{"b", "from", "to"}, From: []int{1, 2}, To: []int{2, 0}, Lines: []int{1, 2}}},
		{"numbers as names, in their order", "10,9\n9,1\n", []input.Option{NodeNames()},
			Network{Nodes: 3, Names: []string{"1", "9", "10"}, From: []int{2, 1}, To: []int{1, 0}, Lines: []int{1, 2}}},
		{"weights", "0,1,0.5\n1,2,-2\n", nil, Network{Nodes: 3, From: []int{0, 1}, To: []int{1, 2}, Weight: []float64{.5, -2}, Lines: []int{1, 2}}},
		{"ignored columns", "a,b,c,d\n0,1,x,7\n", []input.Option{data.Ignore("c")}, Network{Nodes: 2, From: []int{0}, To: []int{1}, Weight: []float64{7}, Lines: []int{2}}},
		{"node count", "0,1\n", []input.Option{NodeCount(5)}, Network{Nodes: 5, From: []int{0}, To: []int{1}, Lines: []int{1}}},
		{"directed", "0,1\n1,0\n", []input.Option{Directed()}, Network{Nodes: 2, From: []int{0, 1}, To: []int{1, 0}, Directed: true, Lines: []int{1, 2}}},
		{"duplicates dropped", "0,1\n1,0\n1,2\n", []input.Option{DropDuplicates()}, Network{Nodes: 3, From: []int{0, 1}, To: []int{1, 2}, Lines: []int{1, 3}}},
		{"duplicates added", "0,1\n1,2\n1,0\n2,3\n", []input.Option{AddDuplicates()},
			Network{Nodes: 4, From: []int{0, 1, 2}, To: []int{1, 2, 3}, Weight: []float64{2, 1, 1}, Lines: []int{1, 2, 4}}},
		{"weights added", "0,1,3\n0,1,4\n", []input.Option{AddDuplicates(), Directed()},
			Network{Nodes: 2, From: []int{0}, To: []int{1}, Weight: []float64{7}, Directed: true, Lines: []int{1}}},
		{"self-loops kept", "0,0\n0,1\n", []input.Option{KeepSelfLoops()}, Network{Nodes: 2, From: []int{0, 0}, To: []int{0, 1}, Lines: []int{1, 2}}},
		{"self-loops dropped", "2,2\n0,1\n", []input.Option{DropSelfLoops()}, Network{Nodes: 3, From: []int{0}, To: []int{1}, Lines: []int{2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Name = "f.csv"
			for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
				got, err := Read("f.csv", r, c.opts...)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(*got, c.want) {
					t.Errorf("got  %+v\nwant %+v", *got, c.want)
				}
			}
		})
	}
}

func TestReadEdgesErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opts       []input.Option
		want       string
	}{
		{"empty", "", nil, "f.csv: the file is empty"},
		{"only comments", "# a\n#b\n", nil, "f.csv: the file is empty"},
		{"only a header", "source,target\n", nil, "f.csv:1: no rows follow the header"},
		{"one column", "0\n1\n", nil, "f.csv:1: an edge is two nodes and at most a weight, not 1 cells; Ignore leaves columns out"},
		{"four columns", "0,1,2,3\n", nil, "f.csv:1: an edge is two nodes and at most a weight, not 4 cells; Ignore leaves columns out"},
		{"unknown ignored", "a,b\n0,1\n", []input.Option{data.Ignore("c")}, `f.csv:1: ignore "c": no such column`},
		{"width", "0 1\n0 1 2\n", nil, "f.csv:2: the number of cells is 3, not 2 as in line 1"},
		{"name among numbers", "a,b\n0,1\n1,x\n", nil, `f.csv:3: column "b": "x" is not the number of a node; NodeNames() takes all nodes for names`},
		{"negative", "0,1\n1,-1\n", nil, `f.csv:2: column "x2": "-1" is not the number of a node; NodeNames() takes all nodes for names`},
		{"empty cell", "0,1\n1,\n", nil, `f.csv:2: column "x2": empty cell`},
		{"large", "0,1\n1,67108864\n", nil, `f.csv:2: column "x2": node 67108864 is outside [0, 67108864); MaxCells sets the limit`},
		{"very large", "0,1\n1,123456789012345678901234567890\n", nil,
			`f.csv:2: column "x2": node 12345678901234567890… is outside [0, 67108864); MaxCells sets the limit`},
		{"beyond the count", "0,1\n1,2\n", []input.Option{NodeCount(2)}, `f.csv:2: column "x2": node 2 is outside [0, 2); NodeCount sets the limit`},
		{"count of names", "u v\n", []input.Option{NodeCount(2)}, "f.csv:1: NodeCount is for nodes that are numbers; these have names"},
		{"senseless count", "0 1\n", []input.Option{NodeCount(0)}, "f.csv: NodeCount(0): the number must be positive"},
		{"weight", "0,1,1\n1,2,x\n", nil, `f.csv:2: column "x3": "x": a weight must be a number`},
		{"weight of 0", "0,1,1\n1,2,0\n", nil, `f.csv:2: column "x3": "0": an edge of weight 0 is none`},
		{"infinite weight", "0,1,1\n1,2,1e999\n", nil, `f.csv:2: column "x3": "1e999": it is not finite`},
		{"self-loop", "0,1\n2,2\n", nil, "f.csv:2: an edge from node 2 to itself; KeepSelfLoops() or DropSelfLoops() allows it"},
		{"duplicate", "0,1\n1,2\n0,1\n", nil, "f.csv:3: the edge is there already, in line 1; DropDuplicates() or AddDuplicates() allows it"},
		{"the other way", "0,1\n1,0\n", nil,
			"f.csv:2: the edge is there already, in line 1; DropDuplicates() or AddDuplicates() allows it, Directed() tells the two ways apart"},
		{"weights that cancel", "0,1,1\n0,1,-1\n", []input.Option{AddDuplicates()}, "f.csv:2: the weights of equal edges add up to 0: an edge of weight 0 is none"},
		{"nothing but self-loops", "0,0\n", []input.Option{DropSelfLoops()}, "f.csv: the file has no edges but dropped ones"},
		{"option of another reader", "0,1\n", []input.Option{data.NoLabel()}, "f.csv: NoLabel: this is an option for tables, not for edge lists"},
		{"cells", "0,1\n1,2\n", []input.Option{data.MaxCells(3)}, "f.csv:2: more than 3 cells; MaxCells sets the limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Read("f.csv", strings.NewReader(c.text), c.opts...)
			datatest.WantError(t, err, c.want)
			if n != nil {
				t.Errorf("a network came with the error: %+v", n)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "f.txt")
	if err := os.WriteFile(path, []byte("0 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := Open(path); err != nil || n.Nodes != 2 {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestNetwork(t *testing.T) {
	n := &Network{Nodes: 3, From: []int{0, 1, 2}, To: []int{1, 2, 2}, Weight: []float64{2, 3, 5}}
	for _, c := range []struct {
		directed       bool
		a              []float64
		source, target []int64
	}{
		{false, []float64{0, 2, 0, 2, 0, 3, 0, 3, 5}, []int64{0, 1, 1, 2, 2}, []int64{1, 0, 2, 1, 2}},
		// Node 1 hears 0: row 1, column 0.
		{true, []float64{0, 0, 0, 2, 0, 0, 0, 3, 5}, []int64{0, 1, 2}, []int64{1, 2, 2}},
	} {
		n.Directed = c.directed
		a, err := n.Adjacency(tensor.Float64)
		if err != nil || !datatest.SameTensor(a, datatest.Dense(c.a, 3, 3)) {
			t.Errorf("directed %t: %v, %v", c.directed, a, err)
		}
		narrow, err := n.Adjacency(tensor.Float32)
		if err != nil || narrow.Float32s()[3] != 2 {
			t.Errorf("directed %t: %v, %v", c.directed, narrow, err)
		}
		source, target, err := n.Arcs()
		if err != nil || !datatest.SameTensor(source, datatest.Dense(c.source, len(c.source))) || !datatest.SameTensor(target, datatest.Dense(c.target, len(c.target))) {
			t.Errorf("directed %t: arcs from %v to %v, %v", c.directed, source, target, err)
		}
	}
}

func TestNetworkErrors(t *testing.T) {
	one := []int{0}
	for _, c := range []struct {
		n    Network
		want string
	}{
		{Network{}, "t: the network has no nodes"},
		{Network{Nodes: 1, From: one}, "t: edges come from 1 nodes and go to 0"},
		{Network{Nodes: 1, Names: []string{"a", "b"}}, "t: 2 names of 1 nodes"},
		{Network{Nodes: 1, Weight: []float64{1}}, "t: 1 weights of 0 edges"},
		{Network{Nodes: 1, Lines: []int{1}}, "t: 1 line numbers of 0 edges"},
		{Network{Nodes: 1, From: one, To: []int{1}}, "t: edge 0: node 1 is outside [0, 1)"},
		{Network{Nodes: 1, From: []int{-1}, To: one, Lines: []int{7}}, "t:7: node -1 is outside [0, 1)"},
		{Network{Nodes: 1, From: one, To: one, Weight: []float64{0}}, "t: edge 0: weight 0: an edge of weight 0 is none"},
		{Network{Nodes: 1, From: one, To: one, Weight: []float64{1e39}}, "t: edge 0: the weight 1e+39, with those of equal edges, gives +Inf as float32"},
		{Network{Nodes: 1, From: one, To: one, Weight: []float64{1e-99}}, "t: edge 0: the weight 1e-99, with those of equal edges, gives 0 as float32"},
		{Network{Nodes: 1 << 30}, "t: 1073741824 nodes are too many for a dense adjacency; Arcs gives lists of edges"},
	} {
		c.n.Name = "t"
		_, err := c.n.Adjacency(tensor.Float32)
		datatest.WantError(t, err, c.want)
	}
	_, err := (&Network{Name: "t", Nodes: 1}).Adjacency(tensor.Int)
	datatest.WantError(t, err, "t: dtype int is neither float32 nor float64")
	_, _, err = (&Network{Name: "t", Nodes: 1}).Arcs()
	datatest.WantError(t, err, "t: the network has no edges")
	edge := Network{Name: "t", Nodes: 2, From: one, To: []int{1}}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "a"}, `t: two nodes are named "a"`},
		{[]string{"a", " b"}, `t: name of node 1: " b" begins or ends with white space`},
		{[]string{"a", ""}, "t: name of node 1: empty cell"},
	} {
		edge.Names = c.names
		datatest.WantError(t, Write(io.Discard, &edge), c.want)
	}
	datatest.WantError(t, Write(io.Discard, &Network{Name: "t", Nodes: 1}), "t: the network has no edges")
}

func TestWriteEdges(t *testing.T) {
	n := &Network{Nodes: 3, Names: []string{"#a", "b,c", "d"}, From: []int{0, 2}, To: []int{1, 0}, Weight: []float64{0.1, -3}}
	var b strings.Builder
	if err := Write(&b, n); err != nil {
		t.Fatal(err)
	}
	if want := "source,target,weight\n\"#a\",\"b,c\",0.1\nd,\"#a\",-3\n"; b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
	again, err := Read("", strings.NewReader(b.String()), NodeNames())
	if err != nil {
		t.Fatal(err)
	}
	again.Lines = nil
	if !reflect.DeepEqual(again, n) {
		t.Errorf("got  %+v\nwant %+v", again, n)
	}
}

// The club's figures are those of Zachary's paper and of networkx.
func TestKarate(t *testing.T) {
	club, factions := Karate()
	if club.Nodes != 34 || len(club.From) != 78 || club.Directed || club.Weight != nil || len(factions) != 34 {
		t.Fatalf("%d members, %d friendships, %d factions", club.Nodes, len(club.From), len(factions))
	}
	friends := make([]int, club.Nodes)
	for e := range club.From {
		friends[club.From[e]]++
		friends[club.To[e]]++
	}
	if friends[0] != 16 || friends[33] != 17 || friends[11] != 1 || slices.Max(friends) != 17 {
		t.Errorf("friends: %v", friends)
	}
	officers := 0
	for _, f := range factions {
		officers += f
	}
	if factions[0] != 0 || factions[33] != 1 || officers != 17 {
		t.Errorf("factions: %v", factions)
	}
	a, err := club.Adjacency(tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	sum := float32(0)
	for _, v := range a.Float32s() {
		sum += v
	}
	source, _, err := club.Arcs()
	if err != nil || sum != 156 || source.Shape()[0] != 156 {
		t.Errorf("sum of the adjacency %g, arcs %v, %v", sum, source.Shape(), err)
	}
}

// FuzzReadEdges checks that nothing panics, that an error is one located line, and that
// what was read can be written and read back.
func FuzzReadEdges(f *testing.F) {
	for i, text := range []string{"0,1\n1,2\n", "0 1\n#x\n 1  2 \n", "a,b,w\n0,1,2\n", "source;target\n\"u\"\"\";v\n", "0\t1\n1\t0\n2\t2", "#\"\n\"#a\" b\n", "\ufeff0,1", "0,99999999999", "u v 0x1p-2"} {
		f.Add(text, byte(i))
		f.Add(datatest.Gzipped(text), byte(i))
	}
	f.Fuzz(func(t *testing.T, text string, flags byte) {
		var opts []input.Option
		for k, o := range []input.Option{Directed(), NodeNames(), KeepSelfLoops(), DropSelfLoops(), DropDuplicates(), AddDuplicates()} {
			if flags>>k&1 != 0 {
				opts = append(opts, o)
			}
		}
		n, err := Read("f.csv", strings.NewReader(text), append(opts, data.MaxCells(1<<20), data.MaxBytes(1<<20))...)
		if err != nil {
			if n != nil || !datatest.IsLocated(err, "f.csv:") {
				t.Fatalf("%v with %v", n, err)
			}
			return
		}
		var b strings.Builder
		if err := Write(&b, n); err != nil {
			t.Fatal(err)
		}
		opts = []input.Option{KeepSelfLoops()}
		if n.Directed {
			opts = append(opts, Directed())
		}
		if n.Names != nil {
			opts = append(opts, NodeNames())
			// Nodes without edges have no place in a file.
		} else {
			opts = append(opts, NodeCount(n.Nodes))
		}
		again, err := Read("f.csv", strings.NewReader(b.String()), opts...)
		if err != nil {
			t.Fatalf("cannot be read back from %q: %v", b.String(), err)
		}
		again.Lines = n.Lines
		if len(again.Names) == len(n.Names) && !reflect.DeepEqual(again, n) || len(again.Names) > len(n.Names) {
			t.Fatalf("read back from %q:\ngot  %+v\nwant %+v", b.String(), again, n)
		}
	})
}
