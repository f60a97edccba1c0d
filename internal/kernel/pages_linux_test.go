package kernel

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// Large arrays are to lie in large pages.
func TestLargePages(t *testing.T) {
	how, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || !strings.Contains(string(how), "[madvise]") {
		t.Skip("the system does not take advice on large pages")
	}
	if !keepsAdvice(t) {
		t.Skip("the system forgets advice on large pages, as emulators do")
	}
	for _, bytes := range []int{largeBytes, 32 << 20} {
		m := Alloc(bytes)
		m.Clear()
		if flags := flagsOf(t, uintptr(m.p)+uintptr(bytes)/2); !strings.Contains(flags+" ", " hg ") {
			t.Errorf("%d bytes lie in small pages:%s", bytes, flags)
		}
	}
}

// keepsAdvice reports whether a mapping that was advised to lie in large pages says so afterwards.
// An emulator of another processor accepts the advice and does not pass it on.
func keepsAdvice(t *testing.T) bool {
	b, err := syscall.Mmap(-1, 0, 2*pageBytes,
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(b) }()
	if err := syscall.Madvise(b, syscall.MADV_HUGEPAGE); err != nil {
		return false
	}
	flags := flagsOf(t, uintptr(unsafe.Pointer(unsafe.SliceData(b)))+pageBytes)
	return strings.Contains(flags+" ", " hg ")
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
