package lab

import (
	"fmt"
	"slices"
)

// Letters returns a compact letter display of n things (Piepho, 2004): two of them share a letter
// exactly if they do not differ. Letters are given in the order of the things, from a. differ is
// called with i < j; if it is nil, nothing differs.
func Letters(n int, differ func(i, j int) bool) []string {
	if differ == nil {
		differ = func(int, int) bool { return false }
	}
	all := make([]bool, max(n, 0))
	for i := range all {
		all[i] = true
	}
	groups := [][]bool{all}
	for i := range n {
		for j := range i {
			if !differ(j, i) {
				continue
			}
			var next [][]bool
			for _, g := range groups {
				if !g[i] || !g[j] {
					next = append(next, g)
					continue
				}
				for _, leave := range []int{i, j} {
					part := slices.Clone(g)
					part[leave] = false
					next = append(next, part)
				}
			}
			groups = absorbed(next)
		}
	}
	slices.SortStableFunc(groups, func(a, b []bool) int {
		for i := range a {
			switch {
			case a[i] && !b[i]:
				return -1
			case b[i] && !a[i]:
				return 1
			}
		}
		return 0
	})
	out := make([]string, len(all))
	for k, g := range groups {
		for i, in := range g {
			if in {
				out[i] += letter(k)
			}
		}
	}
	return out
}

// absorbed returns the groups that no other group contains.
func absorbed(groups [][]bool) [][]bool {
	contains := func(a, b []bool) bool {
		for i := range a {
			if b[i] && !a[i] {
				return false
			}
		}
		return true
	}
	var out [][]bool
	for _, g := range groups {
		if slices.ContainsFunc(out, func(o []bool) bool { return contains(o, g) }) {
			continue
		}
		out = append(slices.DeleteFunc(out, func(o []bool) bool { return contains(g, o) }), g)
	}
	return out
}

// letter returns the k-th letter from 0: a to z, A to Z, then (53), (54) and so on.
func letter(k int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if k < len(letters) {
		return letters[k : k+1]
	}
	return fmt.Sprintf("(%d)", k+1)
}
