package kernel

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Large arrays are to lie in large pages.
func TestLargePages(t *testing.T) {
	how, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || !strings.Contains(string(how), "[madvise]") {
		t.Skip("the system does not take advice on large pages")
	}
	for _, bytes := range []int{largeBytes, 32 << 20} {
		m := Alloc(bytes)
		m.Clear()
		if flags := flagsOf(t, uintptr(m.p)+uintptr(bytes)/2); !strings.Contains(flags+" ", " hg ") {
			t.Errorf("%d bytes lie in small pages:%s", bytes, flags)
		}
	}
}

// flagsOf returns the flags of the mapping that has an address.
func flagsOf(t *testing.T, address uintptr) string {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= address && address < to
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && inside {
			return flags
		}
	}
	t.Fatalf("no mapping has address %#x", address)
	return ""
}
