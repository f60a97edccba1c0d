package lanes

// Owners returns which of so many ranks owns each of a net's arrays, given by their bytes, where ranks
// share them out whole: consecutive ones, about as many bytes as any other.
func Owners(bytes []int, ranks int) []int {
	total := 0
	for _, n := range bytes {
		total += n
	}
	owners, before := make([]int, len(bytes)), 0
	for i, n := range bytes {
		owners[i] = min(ranks-1, (2*before+n)*ranks/max(1, 2*total)) // that of its middle
		before += n
	}
	return owners
}
