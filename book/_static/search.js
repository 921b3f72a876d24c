// A page opened from a folder may not read the others to quote them: there, the results are titles alone.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
