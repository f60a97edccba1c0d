package page

import "embed"

// assets is empty: in a browser, the page's files come from the host that the page itself is from.
var assets embed.FS
