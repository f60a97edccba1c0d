package parallel

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
)

// Fact is something that must be the same on all ranks, such as the graph that is trained. The
// names of one rank's facts differ.
type Fact struct{ Name, Value string }

// order is the order of the bytes of a number on this machine.
var order = binary.NativeEndian.String()

// Agree compares facts among the ranks. If ranks differ in one, or only some have it, all of them
// get the same error, which says where:
//
//	parallel: ranks differ in lanes: 8 on ranks 0, 2–7; 24 on rank 1
//
// If several facts differ, the first is shown, and the others are named. The cost is that of
// [Ranks.Gather] for the bytes of the facts.
func (r *Ranks) Agree(ctx context.Context, facts ...Fact) error {
	if r.Count() == 1 {
		return nil
	}
	var mine []byte
	for _, f := range facts {
		mine = appendString(appendString(mine, f.Name), f.Value)
	}
	all, err := r.Gather(ctx, mine)
	if err != nil {
		return err
	}
	var names []string
	values := make([]map[string]string, len(all)) // by rank and name
	for rank, p := range all {
		values[rank] = map[string]string{}
		for len(p) > 0 {
			var f Fact
			var ok1, ok2 bool
			f.Name, p, ok1 = cutString(p)
			f.Value, p, ok2 = cutString(p)
			if !ok1 || !ok2 {
				return fmt.Errorf("parallel: what rank %d sends is no list of facts: it runs another program", rank)
			}
			values[rank][f.Name] = f.Value
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	var first string
	var others []string
	for _, name := range names {
		switch where, differ := compare(name, values); {
		case differ && first == "":
			first = fmt.Sprintf("parallel: ranks differ in %s: %s", name, where)
		case differ:
			others = append(others, name)
		}
	}
	switch {
	case first == "":
		return nil
	case len(others) > 0:
		return fmt.Errorf("%s (and in %s)", first, strings.Join(others, ", "))
	}
	return fmt.Errorf("%s", first)
}

// compare says which ranks have which value of a fact, and whether there is more than one.
func compare(name string, values []map[string]string) (where string, differ bool) {
	var shown []string
	ranks := map[string][]int{}
	for rank, facts := range values {
		v, ok := facts[name]
		switch {
		case !ok:
			v = "not given"
		case v == "":
			v = "empty"
		}
		if ranks[v] == nil {
			shown = append(shown, v)
		}
		ranks[v] = append(ranks[v], rank)
	}
	for i, v := range shown {
		shown[i] = fmt.Sprintf("%s on %s", v, plural.List("rank", ranks[v]))
	}
	return strings.Join(shown, "; "), len(shown) > 1
}

// appendString appends a string with its length before it.
func appendString(p []byte, s string) []byte {
	return append(binary.AppendUvarint(p, uint64(len(s))), s...)
}

// cutString is the reverse of appendString.
func cutString(p []byte) (s string, rest []byte, ok bool) {
	n, k := binary.Uvarint(p)
	if k <= 0 || n > uint64(len(p)-k) {
		return "", nil, false
	}
	return string(p[k : k+int(n)]), p[k+int(n):], true
}
