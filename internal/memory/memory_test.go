package memory

import (
	"runtime"
	"testing"
	"testing/fstest"
)

func TestLinux(t *testing.T) {
	const meminfo = "MemTotal:       24682416 kB\nMemFree:        100 kB\nMemAvailable:   4000 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
		known bool
	}{
		"nothing":          {nil, 1<<63 - 1, false},
		"the machine":      {map[string]string{"proc/meminfo": meminfo}, 4000 << 10, true},
		"an old kernel":    {map[string]string{"proc/meminfo": "MemTotal: 5 kB\n"}, 1<<63 - 1, false},
		"no number":        {map[string]string{"proc/meminfo": "MemAvailable: much\n"}, 1<<63 - 1, false},
		"no limit":         {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 4000 << 10, true},
		"the group's":      {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/b/memory.current": "300000\n"}, 700000, true},
		"the outer's":      {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.max": "900000\n", "sys/fs/cgroup/a/memory.current": "800000\n"}, 100000, true},
		"high":             {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000000\n", "sys/fs/cgroup/memory.high": "500000\n"}, 500000, true},
		"cache":            {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "900\n", "sys/fs/cgroup/memory.stat": "anon 100\ninactive_file 600\n"}, 700, true},
		"spent":            {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.high": "1000\n", "sys/fs/cgroup/memory.current": "1900\n"}, 0, true},
		"version 1":        {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu,memory:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "5000\n", "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "3000\n", "sys/fs/cgroup/memory/x/memory.stat": "inactive_file 1\ntotal_inactive_file 500\n"}, 2500, true},
		"no version 1":     {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "5:memory:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712\n"}, 4000 << 10, true},
		"both":             {map[string]string{"proc/self/cgroup": "5:memory:/\n0::/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "5000\n", "sys/fs/cgroup/unified/memory.max": "4000\n"}, 4000, true},
		"inside container": {map[string]string{"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/memory.max": "4000\n"}, 4000, true},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got, known := linux(root); got != c.want || known != c.known {
			t.Errorf("%s: %d %v, want %d %v", name, got, known, c.want, c.known)
		}
	}
}

// TestAddressSpace: the limit of the process counts, less the address space in use.
func TestAddressSpace(t *testing.T) {
	limits := func(soft string) fstest.MapFS {
		return fstest.MapFS{
			"proc/meminfo":     {Data: []byte("MemAvailable: 8000000 kB\n")},
			"proc/self/limits": {Data: []byte("Limit                     Soft Limit           Hard Limit           Units\nMax address space         " + soft + "           unlimited            bytes\n")},
			"proc/self/status": {Data: []byte("Name:\tx\nVmPeak:\t 9 kB\nVmSize:\t 1000000 kB\n")},
		}
	}
	if got, limited := linuxSpace(limits("unlimited")); limited {
		t.Errorf("unlimited: %d", got)
	}
	if got, known := linuxSpace(limits("4096000000")); got < 3000000<<10 || got > 4000000<<10 || !known { // Go holds a little of it
		t.Errorf("limited: %d %v", got, known)
	}
}

func TestAvailable(t *testing.T) {
	n, ok := Available()
	if ok && n < 1<<20 || !ok && (runtime.GOOS == "linux" || runtime.GOOS == "windows" || runtime.GOOS == "darwin") {
		t.Errorf("%d bytes, %v", n, ok)
	}
}

// TestTake: promised memory is not granted again until the promise is kept or ends.
func TestTake(t *testing.T) {
	defer func(was func() (int64, bool)) { System = was }(System)
	const all = 1 << 30
	System = func() (int64, bool) { return all, true }
	first, _, short := Take(all * 2 / 3)
	if short {
		t.Fatal("there is enough")
	}
	if p, there, short := Take(all * 2 / 3); !short || p != nil || there != all-all*2/3 {
		t.Errorf("promised twice: %d left", there)
	}
	first.Keep(all / 3)
	second, _, short := Take(all * 2 / 3)
	if short {
		t.Error("what is kept is promised on")
	}
	first.End()
	second.End()
	if there, _ := Available(); there != all {
		t.Errorf("%d of %d are there in the end", there, all)
	}
	if p, _, short := Take(1); p != nil || short {
		t.Error("a byte is promised")
	}
}

// TestPromisesInAddressSpace: allocated memory, touched or not, counts once against a limit of the
// address space.
func TestPromisesInAddressSpace(t *testing.T) {
	defer func(machine, space func() (int64, bool)) { System, AddressSpace = machine, space }(System, AddressSpace)
	const all = 1 << 30
	space := int64(all)
	System = func() (int64, bool) { return 8 * all, true }
	AddressSpace = func() (int64, bool) { return space, true }
	p, _, short := Take(all / 2)
	if _, there, two := Take(all * 2 / 3); short || !two || there != all/2 {
		t.Errorf("before it is allocated: %d are there", there)
	}
	space = all / 2
	p.Keep(all / 2)
	if there, ok := Available(); there != all/2 || !ok {
		t.Errorf("once it is allocated: %d are there", there)
	}
	System = func() (int64, bool) { return all, true }
	if p, there, short := Take(all); !short || there != all/2 {
		t.Errorf("the machine: %d are there, %v", there, p)
	}
	p.End()
}
