package safetensors

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Checksum is the metadata key of the checksum.
const Checksum = "tapestry.checksum"

const (
	sumWords  = "SHA-256 of this file with zeros for these digits: " // before the digits
	sumDigits = 2 * sha256.Size
)

// zeros stand for the digits while the sum is computed.
var zeros = strings.Repeat("0", sumDigits)

// checksumOf returns the digits of a metadata entry that is a checksum, and "" for another. Key and
// words must come together, so that after a wrong bit in one of them the other still tells that
// there was a checksum.
func checksumOf(key, value string) (digits string, err error) {
	digits, words := strings.CutPrefix(value, sumWords)
	switch {
	case key != Checksum && !words:
		return "", nil
	case key != Checksum:
		return "", fmt.Errorf("the checksum has the key %.60q; want %q", key, Checksum)
	case !words || len(digits) != sumDigits || strings.Trim(digits, "0123456789abcdef") != "":
		return "", errors.New("the checksum is damaged")
	}
	return digits, nil
}

// compare compares the data that were read with the checksum.
func (s *source) compare(h *header, want string) error {
	if s.sum == nil {
		return nil
	}
	if got := hex.EncodeToString(s.sum.Sum(nil)); got != want {
		return &Error{Offset: h.digits, Msg: fmt.Sprintf("the file is damaged: its checksum is %.8s…, its metadata say %.8s…", got, want), Err: ErrChecksum}
	}
	return nil
}
