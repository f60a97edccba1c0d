package data

import "github.com/tapestry-ml/tapestry/internal/spelling"

// didYouMean returns ` (did you mean "iris"?)` for the candidate that name is likely a slip for, or "".
func didYouMean(name string, candidates []string) string {
	near := spelling.Near(name, candidates)
	if near == "" {
		return ""
	}
	return " (did you mean " + quote(near) + "?)"
}
