// Package memory tells how much memory this process may still take.
package memory

import (
	"bufio"
	"io/fs"
	"math"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Available returns how many bytes this process may still take: the least of what the machine, the
// control groups that it is in and its own limit (ulimit -v) leave. ok is false where that is not
// known.
func Available() (bytes int64, ok bool) {
	if bytes, ok = System(); ok {
		bytes -= promised.Load()
	}
	if space, limited := AddressSpace(); limited {
		bytes, ok = min(bytes, space-reserving.Load()), true
	}
	return max(0, bytes), ok
}

// System returns what the machine and its control groups leave, and AddressSpace what a limit of
// the process leaves. They are variables for tests.
var (
	System       = available
	AddressSpace = addressSpace
)

// promised is the sum of the promises whose memory has not been touched yet. The system counts
// memory when it is touched: without this sum, the same memory would be granted to several. It is
// global because the memory is the process's.
var promised atomic.Int64

// reserving is the part of promised that has not been allocated either: a limit of the address
// space counts memory when it is allocated.
var reserving atomic.Int64

// A Promise keeps memory that has not been touched yet from being granted to others.
type Promise struct{ bytes, reserving atomic.Int64 }

// taking serialises Take.
var taking sync.Mutex

// Take promises so many bytes; if there are fewer, it reports short and how many there are. Less
// than a MiB is not worth the bookkeeping: the promise is nil.
func Take(bytes int64) (p *Promise, there int64, short bool) {
	taking.Lock()
	defer taking.Unlock()
	if there, short = Lacks(bytes); short || bytes < 1<<20 {
		return nil, there, short
	}
	return Promised(bytes), there, false
}

// Promised promises so many bytes without asking whether there are as many.
func Promised(bytes int64) *Promise {
	p := &Promise{}
	p.bytes.Store(bytes)
	p.reserving.Store(bytes)
	promised.Add(bytes)
	reserving.Add(bytes)
	return p
}

// Keep lowers the promise to so many bytes, which are allocated by now but not touched. The others
// have been touched.
func (p *Promise) Keep(bytes int64) {
	if p != nil {
		reserving.Add(-p.reserving.Swap(0))
		promised.Add(bytes - p.bytes.Swap(bytes))
	}
}

// End ends the promise: the memory has been touched, or never will be. Ending it again, or ending
// nil, does nothing.
func (p *Promise) End() {
	if p != nil {
		reserving.Add(-p.reserving.Swap(0))
		promised.Add(-p.bytes.Swap(0))
	}
}

// Lacks reports whether this process cannot take so many bytes, and how many it can take. Up to 16
// MiB, which any machine has, are never lacking. Where the system does not tell, only more than an
// int can count is lacking.
func Lacks(bytes int64) (there int64, short bool) {
	const cheap = 16 << 20
	if bytes <= cheap {
		return 0, false
	}
	there, known := Available()
	if known && there-reserved() < bytes {
		debug.FreeOSMemory() // garbage counts as available too, and returns in larger pieces
		there, known = Available()
	}
	return there, known && there < bytes || bytes > math.MaxInt
}

// linux reads Available from the files of a Linux system.
func linux(root fs.FS) (bytes int64, ok bool) {
	bytes = math.MaxInt64
	if kib, found := field(root, "proc/meminfo", "MemAvailable:"); found {
		bytes = kib << 10
	}
	for _, line := range lines(root, "proc/self/cgroup") {
		id, rest, _ := strings.Cut(line, ":")
		controllers, group, _ := strings.Cut(rest, ":")
		switch {
		case id == "0" && controllers == "":
			for _, mount := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"} {
				bytes = min(bytes, unified.left(root, mount, group))
			}
		case strings.Contains(","+controllers+",", ",memory,"):
			bytes = min(bytes, separate.left(root, "sys/fs/cgroup/memory", group))
		}
	}
	return max(bytes, 0), bytes < math.MaxInt64
}

// linuxSpace reads AddressSpace from the files of a Linux system.
func linuxSpace(root fs.FS) (bytes int64, limited bool) {
	for _, line := range lines(root, "proc/self/limits") {
		if rest, is := strings.CutPrefix(line, "Max address space"); is {
			if limit, err := strconv.ParseInt(strings.Fields(rest + " -")[0], 10, 64); err == nil {
				used, _ := field(root, "proc/self/status", "VmSize:")
				return max(0, limit-used<<10+reserved()), true
			}
		}
	}
	return 0, false
}

// reserved returns half of the address space that Go holds and does not use: it lies in pieces, and
// a large array wants a single one. To report too much would end the process; to report too little
// causes an error that says so.
func reserved() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()+s[1].Value.Uint64()) / 2
}

// hierarchy holds the names of the files of control groups.
type hierarchy struct {
	limits []string
	usage  string
	cached string // in memory.stat: what of the usage is given back when it is wanted
}

var (
	unified  = hierarchy{[]string{"memory.max", "memory.high"}, "memory.current", "inactive_file"}
	separate = hierarchy{[]string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"}
)

// left returns the least that a group and the groups around it may still take. In a container the
// process's group may be the root of the mount.
func (h hierarchy) left(root fs.FS, mount, group string) int64 {
	least := int64(math.MaxInt64)
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dir := path.Join(mount, at)
		used, _ := field(root, path.Join(dir, h.usage), "")
		cached, _ := field(root, path.Join(dir, "memory.stat"), h.cached)
		for _, name := range h.limits {
			if limit, ok := field(root, path.Join(dir, name), ""); ok {
				least = min(least, limit-max(used-cached, 0))
			}
		}
		if at == "/" {
			return least
		}
	}
}

// field returns the number after a word at the beginning of a line; ok is false where there is
// none.
func field(root fs.FS, name, word string) (n int64, ok bool) {
	for _, line := range lines(root, name) {
		f := strings.Fields(line)
		if word != "" {
			if len(f) == 0 || f[0] != word {
				continue
			}
			f = f[1:]
		}
		if len(f) == 0 {
			return 0, false
		}
		n, err := strconv.ParseInt(f[0], 10, 64)
		return n, err == nil
	}
	return 0, false
}

func lines(root fs.FS, name string) (list []string) {
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		list = append(list, s.Text())
	}
	return list
}
