//go:build !js

package page

import "embed"

//go:embed assets
var assets embed.FS
