<?php
// Those that are for developers, or ask servers elsewhere.
$plugins['testing'] = 0;
$plugins['popularity'] = 0;
$plugins['extension'] = 0;
