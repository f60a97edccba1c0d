package importer

import "fmt"

// newest is the version of the standard operators up to which their meaning is known here.
const newest = 22

// later lists attributes that operators got after version 17, which rules do not know. Other changes
// since, such as axes that are operands, they know.
var later = map[string][]string{
	"Cast":             {"round_mode"},
	"CastLike":         {"round_mode"},
	"DequantizeLinear": {"block_size", "output_dtype"},
	"QuantizeLinear":   {"block_size", "output_dtype", "precision"},
}

// unknownVersion returns why a node's version is not known here; "" if it is.
func (c *call) unknownVersion() string {
	v := c.version()
	switch {
	case c.n.Domain != "" && c.n.Domain != "ai.onnx":
		return ""
	case v < 1:
		return "the file does not say which version of the operators it uses"
	case v > newest:
		return fmt.Sprintf("version %d of the operators is not known here: want at most %d", v, newest)
	}
	for _, name := range later[c.n.Op] {
		if a := c.attr(name); a != nil && (a.Int != 0 || a.String != "") {
			return fmt.Sprintf("its attribute %s, of version %d of the operators, is not known here", name, v)
		}
	}
	return ""
}
