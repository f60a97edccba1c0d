package format

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// hostile has files of about a size that ask for as much memory as they can.
func hostile(size int) map[string][]byte {
	many := func(field []byte) []byte { return bytes.Repeat(field, size/len(field)) }
	return map[string][]byte{
		"nodes":            inGraph(many(msg(1))),
		"small nodes":      inGraph(many(msg(1, str(4, "A")))),
		"inputs":           inGraph(many(msg(11))),
		"operands":         inGraph(node("A", many(str(1, "")))),
		"initialisers":     inGraph(many(msg(5))),
		"sparse":           inGraph(many(msg(15))),
		"empty tensors":    inGraph(many(weight(num(2, 1), num(1, 0)))),
		"attributes":       inGraph(node("A", many(msg(5, num(20, 2))))),
		"integers":         inGraph(node("A", attribute(str(8, strings.Repeat("\x01", size))))),
		"single integers":  inGraph(node("A", attribute(many(num(8, 1))))),
		"texts":            inGraph(node("A", attribute(many(str(9, ""))))),
		"graphs":           inGraph(node("A", attribute(many(msg(11))))),
		"dimensions":       inGraph(msg(11, msg(2, msg(1, msg(2, many(msg(1))))))),
		"axes":             inGraph(weight(str(1, strings.Repeat("\x01", size)))),
		"elements":         inGraph(weight(str(7, strings.Repeat("\x01", size)))),
		"pieces":           inGraph(weight(many(append(num(7, 1), str(7, "\x01")...)))),
		"strings":          inGraph(weight(many(str(6, "")))),
		"long text":        inGraph(str(2, strings.Repeat("a", size))),
		"entries":          inGraph(weight(many(msg(13)))),
		"metadata":         many(msg(14, str(1, "k"))),
		"functions":        many(msg(25)),
		"operator sets":    many(msg(8, str(1, "a"))),
		"unknown":          many(msg(99)),
		"unknown groups":   many(protowire.AppendTag(nil, 99, protowire.StartGroupType)),
		"sparse types":     inGraph(many(msg(11, msg(2, msg(8, msg(2)))))),
		"deep":             inGraph(many(deep(30, nil))),
		"shape":            inGraph(weight(num(2, 1), num(1, 1<<40), num(1, 1<<20))),
		"sparse zeros":     inGraph(sparseWeight(floats(1), ints("\x01", 3), varints(1<<40))),
		"length":           append([]byte{0x3a}, varints(1<<62)...),
		"length of text":   append([]byte{0x12}, varints(1<<31)...),
		"length of tensor": append([]byte{0x3a, 0x0a, 0x2a, 0x0b, 0x4a}, varints(1<<40)...),
	}
}

// Reading takes memory in proportion to the file, whatever the file says. The bound counts what is
// allocated and given back too, as when a list grows.
func TestMemory(t *testing.T) {
	const size = 1 << 18
	for name, b := range hostile(size) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := Read(bytes.NewReader(b), int64(len(b)), Limits{})
		runtime.ReadMemStats(&after)
		bytes := after.TotalAlloc - before.TotalAlloc
		if most := uint64(3 * (1<<20 + 64*len(b))); bytes > most {
			t.Errorf("%s: a file of %d bytes takes %d bytes of memory, more than %d; err %v", name, len(b), bytes, most, err)
		}
		runtime.KeepAlive(m)
	}
}
