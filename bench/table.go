package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// tables prints the medians of runs as a Markdown table for each number of threads, in the
// order in which they come. Runs during which other programs had more of the cores than
// maxOthers are left out. PyTorch is the peer whose median is least. Peers that took
// different numbers of steps have not done the same, which is an error.
func tables(w io.Writer, runs []run, maxOthers float64) error {
	var threads []int
	var names, peers []string
	steps := map[string]run{}
	leftOut := 0
	cells := map[string][]run{}
	for _, r := range runs {
		if first, ok := steps[r.Training]; !ok {
			steps[r.Training] = r
		} else if first.Steps != r.Steps {
			return fmt.Errorf("%s: %s took %d steps, %s %d", r.Training, first.Peer, first.Steps, r.Peer, r.Steps)
		}
		if !slices.Contains(threads, r.Threads) {
			threads = append(threads, r.Threads)
		}
		if !slices.Contains(names, r.Training) {
			names = append(names, r.Training)
		}
		if r.Peer != "tapestry" && !slices.Contains(peers, r.Peer) {
			peers = append(peers, r.Peer)
		}
		if r.Others > maxOthers {
			leftOut++
			continue
		}
		key := fmt.Sprint(r.Training, r.Threads, r.Peer)
		cells[key] = append(cells[key], r)
	}
	for _, n := range threads {
		fmt.Fprintf(w, "Threads: %d. Seconds.\n\n", n)
		fmt.Fprintln(w, "| training | steps | Tapestry | PyTorch | ratio | CPU time, ratio | Tapestry, whole program | PyTorch, whole program | ratio | result | PyTorch's |")
		fmt.Fprintln(w, "|---|"+strings.Repeat("---:|", 10))
		for _, name := range names {
			what := name
			for _, t := range trainings {
				if t.name == name {
					what = t.what
				}
			}
			ours := cells[fmt.Sprint(name, n, "tapestry")]
			var theirs []run
			for _, p := range peers {
				if c := cells[fmt.Sprint(name, n, p)]; len(c) > 0 && (theirs == nil || median(c, seconds) < median(theirs, seconds)) {
					theirs = c
				}
			}
			fmt.Fprintf(w, "| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", what, steps[name].Steps,
				cell(ours, seconds), cell(theirs, seconds), ratio(ours, theirs, seconds), ratio(ours, theirs, cpu),
				cell(ours, whole), cell(theirs, whole), ratio(ours, theirs, whole), cell(ours, result), cell(theirs, result))
		}
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintf(w, "%d runs, %d of them left out because others had more than %.0f %% of the cores.\n", len(runs), leftOut, 100*maxOthers)
	return err
}

func seconds(r run) float64 { return r.Seconds }
func whole(r run) float64   { return r.Whole }
func cpu(r run) float64     { return r.CPU }
func result(r run) float64  { return r.Result }

// median is that of what runs have, of an even number the mean of the middle two.
func median(runs []run, of func(run) float64) float64 {
	var all []float64
	for _, r := range runs {
		all = append(all, of(r))
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// cell is a median to print, a dash where there is none.
func cell(runs []run, of func(run) float64) string {
	if len(runs) == 0 {
		return "–"
	}
	return figure(median(runs, of), 4)
}

// ratio is that of two medians.
func ratio(ours, theirs []run, of func(run) float64) string {
	if len(ours) == 0 || len(theirs) == 0 {
		return "–"
	}
	return figure(median(ours, of)/median(theirs, of), 2)
}

// figure writes a number of at most so many significant digits, without an exponent.
func figure(v float64, digits int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
