<?php
// The settings of every instance.
$conf['title'] = 'Harbour handbook';
$conf['savedir'] = getenv('STEPMILL_FOLDER') . '/data';
$conf['basedir'] = '/';
$conf['useacl'] = 1;
$conf['superuser'] = '@admin';
$conf['updatecheck'] = 0;
$conf['usedraft'] = 0;
$conf['autopasswd'] = 0;
$conf['cachetime'] = -1;
$conf['license'] = '';
$conf['subscribers'] = 1;
$conf['recent_days'] = 3650;
$conf['disableactions'] = 'register,resendpwd';
$conf['gzip_output'] = 0;
$conf['showuseras'] = 'username';
