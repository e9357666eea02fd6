# <?php exit()?>
# The only user: mia, whose password is harbour.
mia:$1$harbour$0ZbCwCmnxzZAtF4Fee2Xh.:Mia Berg:mia@harbour.test:user
