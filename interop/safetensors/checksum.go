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

// zeros stand for the digits while the sum is taken.
var zeros = strings.Repeat("0", sumDigits)

// checksumOf gives the digits of a metadata entry that is a checksum, "" for
// another. Key and words must come together: a wrong bit in either then leaves
// the other to tell that a checksum was there.
func checksumOf(key, value string) (digits string, err error) {
	digits, words := strings.CutPrefix(value, sumWords)
	switch {
	case key != Checksum && !words:
		return "", nil
	case key != Checksum:
		return "", fmt.Errorf("the checksum stands under the key %.60q; want %q", key, Checksum)
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
		return &Error{Offset: h.digits, Msg: fmt.Sprintf("the file is damaged: its checksum is %.8s…, it says %.8s…", got, want), Err: ErrChecksum}
	}
	return nil
}
