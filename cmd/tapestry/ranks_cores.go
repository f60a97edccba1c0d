package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// shareCores leaves this rank its share of the cores of a machine on which several ranks run, unless
// GOMAXPROCS says how many it uses. Results do not depend on it.
func shareCores(rank int, all []process) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	here := 0
	for _, p := range all {
		if p.host == all[rank].host {
			here++
		}
	}
	runtime.GOMAXPROCS(share(runtime.GOMAXPROCS(0), runtime.NumCPU(), onlineCores(), here))
}

// share returns how many cores a rank uses, of as many as it may use: of those that the process is
// bound to, fewer than the machine has, its launcher has given it a part already, as mpirun does.
func share(most, bound, machine, ranks int) int {
	if bound < machine {
		return max(1, min(most, machine/ranks))
	}
	return max(1, most/ranks)
}

// onlineCores returns the number of cores of the machine, or where it is not known of those that
// this process may use.
func onlineCores() int {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return runtime.NumCPU()
	}
	n := cores(string(text))
	return max(n, runtime.NumCPU())
}

// cores counts the cores of a list such as 0-3,8; 0 for what is none.
func cores(list string) int {
	n := 0
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		from, to, several := strings.Cut(part, "-")
		if !several {
			to = from
		}
		a, err := strconv.Atoi(from)
		if err != nil {
			return 0
		}
		b, err := strconv.Atoi(to)
		if err != nil {
			return 0
		}
		n += b - a + 1
	}
	return n
}
