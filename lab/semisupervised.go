package lab

import "fmt"

// SpreadLabels returns for each point the most frequent known label of its cluster, so that a few
// known labels serve many points (the notes on the uses of unsupervised learning). assigned has the
// cluster of each point; known has its label, or "" if that is not known. Of equally frequent
// labels the one that occurs first wins. A cluster without known labels gets "". Slices of
// different lengths are an error.
func SpreadLabels(assigned []int, known []string) ([]string, error) {
	if len(assigned) != len(known) {
		return nil, fmt.Errorf("%d labels for %d assignments", len(known), len(assigned))
	}
	count, most := map[int]map[string]int{}, map[int]string{}
	for i, label := range known {
		if label == "" {
			continue
		}
		if count[assigned[i]] == nil {
			count[assigned[i]] = map[string]int{}
		}
		count[assigned[i]][label]++
	}
	for i, label := range known { // in order, so that ties do not depend on the map's
		if c := assigned[i]; count[c][label] > count[c][most[c]] {
			most[c] = label
		}
	}
	out := make([]string, len(known))
	for i, c := range assigned {
		out[i] = most[c]
	}
	return out, nil
}
