package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/internal/terminal"
)

// process is where a rank runs.
type process struct {
	host string
	pid  int
}

// settle says which process each rank is, because a launcher names one that dies by the number that the
// system gave it, and leaves this rank its share of the machine's cores.
func (s *sharing) settle(ctx context.Context, w io.Writer) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	texts, err := s.ranks.Gather(ctx, fmt.Append(nil, os.Getpid(), " ", host))
	if err != nil {
		return err
	}
	all := make([]process, len(texts))
	for rank, text := range texts {
		pid, host, _ := strings.Cut(string(text), " ")
		all[rank].host = host
		if all[rank].pid, err = strconv.Atoi(pid); err != nil {
			return fmt.Errorf("rank %d says that it is process %q", rank, pid)
		}
	}
	printProcesses(w, all)
	shareCores(s.ranks.Rank(), all)
	return nil
}

// mostProcesses is the largest number of ranks that have a line each.
const mostProcesses = 16

// printProcesses prints a line for each rank or, of many, for each host with its ranks and, in the
// same order, its processes.
func printProcesses(w io.Writer, all []process) {
	if len(all) <= mostProcesses {
		for rank, p := range all {
			fmt.Fprintf(w, "tapestry: rank %d is process %d on %s\n", rank, p.pid, terminal.Clean(p.host))
		}
		return
	}
	var hosts []string
	ranks, pids := map[string][]int{}, map[string][]int{}
	for rank, p := range all {
		if ranks[p.host] == nil {
			hosts = append(hosts, p.host)
		}
		ranks[p.host], pids[p.host] = append(ranks[p.host], rank), append(pids[p.host], p.pid)
	}
	for _, host := range hosts {
		is := "are"
		if len(ranks[host]) == 1 {
			is = "is"
		}
		fmt.Fprintf(w, "tapestry: %s %s %s on %s\n", plural.List("rank", ranks[host]), is, plural.List("process", pids[host]), terminal.Clean(host))
	}
}
