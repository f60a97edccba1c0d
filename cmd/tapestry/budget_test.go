package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTapeWithinABudget(t *testing.T) {
	args := []string{"tape", "kmeans-goofy", "--set", "n=4096,d=64,k=64", "--json"}
	arena := func(args ...string) int {
		var v struct {
			Arena int `json:"arena_bytes"`
		}
		if err := json.Unmarshal([]byte(ok(t, args...)), &v); err != nil {
			t.Fatal(err)
		}
		return v.Arena
	}
	free := arena(args...)
	if got := arena(append(args, "--budget", "256KiB")...); got > 256<<10 || free <= 256<<10 {
		t.Errorf("the arena has %d bytes, %d without a budget of 256 KiB", got, free)
	}
	code, _, errOut := tapestry(t, append(args, "--budget", "1KiB")...)
	if code == 0 || !strings.Contains(errOut, "budget of 1.0 KiB: the least found is ") || !strings.Contains(errOut, ", held by ") {
		t.Errorf("exit code %d, %s", code, errOut)
	}
}

func TestByteSizes(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "4096": 4096, "10 B": 10, "512KiB": 512 << 10, "1.5MiB": 3 << 19, "1 GiB": 1 << 30} {
		var b byteSize
		if err := b.Set(text); err != nil || b.bytes != want {
			t.Errorf("%q is %d bytes, %v: want %d", text, b.bytes, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "NaN", "Inf", "1e30", "1KB", "9999999999999GiB"} {
		if err := new(byteSize).Set(text); err == nil {
			t.Errorf("%q is no mistake", text)
		}
	}
}
