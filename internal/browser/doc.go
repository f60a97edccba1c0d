// Package browser tests the page of tapestry serve as its readers meet it: in a real
// browser, by pointer and by keyboard.
//
// It takes the command, built from the module around it, and an installed Chromium,
// which the DevTools protocol drives; it gives nothing but test results. It is a
// module of its own so that nobody who uses Tapestry gets the driver. Tests skip only
// where there is no Chromium.
//
// What every test promises besides its own subject: nothing was said on the console,
// no exception was thrown, and no request left the page's origin.
//
// The environment variable TAPESTRY_AXE names the file axe.min.js of npm's axe-core,
// TAPESTRY_ONNXWEB the folder of npm's onnxruntime-web, TAPESTRY_SCREENSHOTS a directory
// for pictures of what the tests saw.
package browser
