package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestRanksRefused: what is not shared out, and flags that contradict each other, are refused in one
// line that says why, before anything is waited for.
func TestRanksRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("net.tapestry", []byte(netOnRows), 0o600); err != nil {
		t.Fatal(err)
	}
	net := "train net.tapestry --data iris --steps 2 "
	for _, c := range []struct{ line, want string }{
		{net + "--lanes 0", "--lanes 0: want 1 to 1024"},
		{net + "--lanes 2000", "--lanes 2000: want 1 to 1024"},
		{net + "--rank 0/2", "--rank: want --ranks, too"},
		{net + "--lanes 8 --shard", "--shard: want --ranks, too"},
		{net + "--ranks-timeout 3s", "--ranks-timeout: want --ranks, too"},
		{net + "--ranks http://here", "--ranks http://here: want mpi, tcp://HOST:PORT or unix:///PATH"},
		{net + "--ranks tcp://127.0.0.1:7070", `--rank "": want the number of this rank, from 0, and that of all, as 0/2`},
		{net + "--ranks tcp://127.0.0.1:7070 --rank 2/2", `--rank "2/2": want the number of this rank, from 0, and that of all, as 0/2`},
		{net + "--ranks tcp://127.0.0.1:7070 --rank 0/3", "--rank 0/3: 3 ranks do not divide 8 lanes: want --lanes 9"},
		{net + "--ranks tcp://127.0.0.1:7070 --rank 0/2 --ranks-timeout 0s", "--ranks-timeout 0s: want a positive duration, as 90s"},
		{net + "--ranks mpi --rank 0/2", "--rank: MPI knows its ranks and how to reach them"},
		{net + "--ranks mpi --ranks-key-file key", "--ranks-key-file: MPI knows its ranks and how to reach them"},
		{net + "--ranks unix:///nowhere --rank 0/2 --ranks-key-file missing", "--ranks-key-file: open missing: no such file or directory"},
		{net + "--lanes 8 --engine gorgonia", "--engine: it runs a batch as a whole: want no --lanes, and no --ranks"},
		{net + "--ranks unix:///nowhere --rank 0/2 --shard --watch-nan", "--watch-nan: with --shard each rank commits the updates of its own parameters before the others are known to be finite: want no --shard, which gives the same bits"},
		{"train kmeans-lloyd --lanes 8", "--lanes: Lloyd's algorithm moves a centre to the mean of all its points at once: no lane could"},
		{"train graph-gcn --lanes 8 --steps 2", "graph-gcn: its batches are not cut into lanes: "},
	} {
		code, out, errOut := tapestry(t, strings.Fields(c.line)...)
		if code == 0 || out != "" || !strings.Contains(errOut, "tapestry: "+c.want) || strings.Count(errOut, "\n") > 2 {
			t.Errorf("%s: exit code %d, %s%s, want %s", c.line, code, out, errOut, c.want)
		}
	}
}

// TestCoresAreShared: ranks of one machine share its cores, unless their launcher has shared them
// already by binding each to some.
func TestCoresAreShared(t *testing.T) {
	for _, c := range []struct{ most, bound, machine, ranks, want int }{
		{16, 16, 16, 1, 16}, {16, 16, 16, 4, 4}, {16, 16, 16, 32, 1},
		{4, 16, 16, 2, 2}, // a limit on the time of cores, for both
		{1, 1, 16, 4, 1},  // bound to a core
		{8, 8, 16, 4, 4},  // two bound to each half
	} {
		if got := share(c.most, c.bound, c.machine, c.ranks); got != c.want {
			t.Errorf("share(%d, %d, %d, %d) = %d, want %d", c.most, c.bound, c.machine, c.ranks, got, c.want)
		}
	}
	for list, want := range map[string]int{"0\n": 1, "0-3\n": 4, "0-3,8,10-11\n": 7, "": 0, "all": 0} {
		if got := cores(list); got != want {
			t.Errorf("cores(%q) = %d, want %d", list, got, want)
		}
	}
}

// TestPrintProcesses: few ranks have a line each, many one for each host.
func TestPrintProcesses(t *testing.T) {
	var few, many strings.Builder
	all := []process{{"a", 11}, {"a", 7}, {"b\x1b[1m", 12}}
	printProcesses(&few, all)
	if want := "tapestry: rank 0 is process 11 on a\ntapestry: rank 1 is process 7 on a\ntapestry: rank 2 is process 12 on b\uFFFD[1m\n"; few.String() != want {
		t.Errorf("%q, want %q", few.String(), want)
	}
	for pid := range 13 {
		all = append(all, process{"c", 100 + pid})
	}
	printProcesses(&many, append(all, process{"a", 8}))
	if want := "tapestry: ranks 0, 1, 16 are processes 11, 7, 8 on a\ntapestry: rank 2 is process 12 on b\uFFFD[1m\ntapestry: ranks 3–15 are processes 100–112 on c\n"; many.String() != want {
		t.Errorf("%q, want %q", many.String(), want)
	}
}

// TestFactsOfRanks: files are compared by what they have, and what one rank alone writes is not
// compared.
func TestFactsOfRanks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.csv": "x\n1\n", "b.csv": "x\n1\n", "c.csv": "x\n2\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of := func(line string) map[string]string {
		root := newRoot(nil, nil, nil)
		cmd, args, err := root.Find(arguments(line, "DIR", dir))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, f := range facts(cmd, cmd.Flags().Args()) {
			out[f.Name] = f.Value
		}
		return out
	}
	first := of("train conv-2d{c=2} --data DIR/a.csv --seed 3 --rank 0/2 --log DIR/log --out x --json")
	for line, differs := range map[string]string{
		"train conv-2d{c=2} --data DIR/b.csv --seed 3 --rank 1/2 --log elsewhere":  "",
		"train conv-2d{c=2} --data DIR/c.csv --seed 3 --log l":                     "--data",
		"train conv-2d{c=2} --data DIR/a.csv --seed 4 --log l":                     "--seed",
		"train conv-2d{c=2} --data DIR/a.csv --seed 3":                             "--log",
		"train conv-2d{c=3} --data DIR/a.csv --seed 3 --log l":                     "model",
		"train conv-2d{c=2} --data DIR/a.csv --seed 3 --log l --checkpoint f":      "--checkpoint",
		"train conv-2d{c=2} --data DIR/a.csv --seed 3 --log l --lanes 4 --steps 0": "--lanes",
	} {
		found := ""
		for name, value := range of(line) {
			if first[name] != value {
				found += name
			}
		}
		if found != differs {
			t.Errorf("%s: %q differ, want %q", line, found, differs)
		}
	}
}

// TestCommandsOfManyMachines: the command lines of the README, of examples/many-machines, its script
// and its manifest, and of the help of train are those of flags that there are and that go together.
func TestCommandsOfManyMachines(t *testing.T) {
	texts := []string{newTrain(&options{}).Long}
	for _, path := range []string{"../../README.md", "../../examples/many-machines/README.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	all := strings.ReplaceAll(strings.Join(texts, "\n"), "\\\n", " ")
	_, manifest, _ := strings.Cut(all, "                - tapestry\n")
	manifest, _, _ = strings.Cut(manifest, "resources:")
	words := regexp.MustCompile(`- "?([^"\n]+)"?\n`).ReplaceAllString(manifest, "$1 ")
	n := 0
	for _, line := range append(strings.Split(all, "\n"), "tapestry "+strings.TrimSpace(words)) {
		_, args, found := strings.Cut(line, "tapestry train ")
		if !found || !strings.Contains(args, "--ranks") {
			continue
		}
		n++
		args, _, _ = strings.Cut(args, "#")
		args = strings.ReplaceAll(args, `'warmup(500,cosine(0.003,99500))'`, "warmup(500,cosine(0.003,99500))")
		var shared sharing
		cmd := newTrain(&options{})
		if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
			t.Errorf("tapestry train %s: %v", args, err)
			continue
		}
		for name, into := range map[string]*string{"ranks": &shared.at, "rank": &shared.place, "ranks-key-file": &shared.keyFile} {
			*into = cmd.Flag(name).Value.String()
		}
		shared.timeout = time.Minute
		shared.lanes, _ = cmd.Flags().GetInt("lanes")
		if err := shared.check(cmd); err != nil {
			t.Errorf("tapestry train %s: %v", args, err)
		}
	}
	if n < 12 {
		t.Errorf("%d commands: want those of the README, of two terminals, with a key, of MPI, Slurm and Kubernetes", n)
	}
}
