package kernel

// Groups of columns: where what is folded is a short innermost axis and, outside of the results,
// another one, as for groups of channels of an image [h w group channel], rows of a few elements
// are not worth a call each. All columns are folded first, whichever result they belong to, and at
// last the neighbours that make a result.

// maxGroup is the longest innermost axis that is folded last. Longer rows are as fast by
// themselves.
const maxGroup = 64

// grouped reports whether results are folded as groups of columns: kept is the walk over them,
// outer that over the folded axes but the innermost, which has size elements that far apart.
func grouped(kept, outer *walk, size, far int) bool {
	dim, near := kept.inner()
	return far == 1 && 1 < size && size <= maxGroup && (near == size || dim == 1) && outer.n >= octet
}

// foldGroups adds up each of n groups of size neighbouring sums, and writes the totals side by
// side.
func foldGroups(sums *byte, n, size int) {
	if size == 1 {
		return
	}
	s := sliceAt[float64](sums, n*size)
	for i := range n {
		total := 0.0
		for _, v := range s[i*size : (i+1)*size] {
			total += v
		}
		s[i] = total
	}
}

// repeatGroups writes each of n numbers as often as a group has columns.
func repeatGroups[T float](numbers *byte, n, size int) {
	if size == 1 {
		return
	}
	s := sliceAt[T](numbers, n*size)
	for i := n - 1; i >= 0; i-- {
		v := s[i]
		for j := range size {
			s[i*size+j] = v
		}
	}
}
